import { writeFileSync } from 'node:fs';
import { logged } from '@longhand/shared/testing/logged.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { startShortener } from '@longhand/shortener';
import type { Hono } from 'hono';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { serving } from '../../testing/serving.ts';
import { readKeys } from './keys.ts';

const shortener = await startShortener();
const keys = { alice: 'AliceAliceAlice-1', bob: 'bob_bob_bob_bob_2' };
const file = `# NAME KEY RATE
alice ${keys.alice} 100r/s

bob\t${keys.bob}  2r/h\r`;

/** Creates an expander with the keys in `text`. Clients without a key may start one expansion an hour. */
function expander(text = file) {
  const { log, lines } = logged();
  const metrics = new Registry();
  const path = textFile(text);
  const env = { EXPANDER_KEYS_FILE: path, EXPANDER_CLIENT_RATE: '1r/h' };
  const { app, close } = testExpander({ log, metrics }, env);
  onTestFinished(close);
  const ask = (query: string, headers: Record<string, string> = {}, path = '/api') =>
    app.request(`${path}?${query}`, { headers: { 'X-Forwarded-For': '192.0.2.1', ...headers } });
  return { app: app as unknown as Hono, ask, path, log, lines, metrics };
}

const u = (path = '/chain/0') => `u=${encodeURIComponent(shortener.url + path)}`;

async function statuses(count: number, ask: (i: number) => Response | Promise<Response>) {
  const all = [];
  for (let i = 0; i < count; i += 1) all.push((await ask(i)).status);
  return all;
}

describe('a key', () => {
  test('is charged for every request, even a cache hit', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { ask } = expander();
    expect((await ask(u(), { Authorization: `bearer  ${keys.bob}` })).status).toBe(200);
    expect((await ask(`${u()}&key=${keys.bob}`)).status).toBe(200);
    const refused = await ask(`key=${keys.bob}&${u()}`, {}, '/api/chain');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('ratelimit-policy')).toBe('"expansions";q=2;w=3600');
    expect(await refused.text()).toContain('Too many requests with this key; try again in 1800 s.');
  });

  test('replaces the address rate limit for requests with the key', async () => {
    const { ask } = expander();
    const alice = { Authorization: `Bearer ${keys.alice}` };
    expect(await statuses(3, (i) => ask(u(`/chain/0?${i}`), alice))).toEqual([200, 200, 200]);
    expect(await statuses(2, (i) => ask(u(`/chain/1?${i}`)))).toEqual([200, 429]);
  });

  test('appears in logs and metrics only by name', async () => {
    const { app, log, lines, metrics } = expander();
    const { url } = await serving(app, { log, lines });
    for (const key of [keys.alice, 'unknown', keys.bob, keys.bob, keys.bob])
      await fetch(`${url}api?${u()}&key=${key}`);
    await expect
      .poll(() => lines.flatMap(({ status, user }) => (status ? [[status, user]] : [])))
      .toEqual([
        [200, 'alice'],
        [401, undefined],
        [200, 'bob'],
        [200, 'bob'],
        [429, 'bob'],
      ]);
    const text = JSON.stringify(lines) + (await metrics.metrics());
    expect(text).toContain('expander_key_requests_total{key="alice"} 1');
    expect(text).toContain('expander_key_requests_total{key="-"} 1');
    expect(text).not.toContain(keys.alice);
  });

  test('takes effect within seconds of a file change', async () => {
    const { ask, path, lines } = expander();
    const status = async (key: string) => (await ask(`${u()}&key=${key}`)).status;
    writeFileSync(path, `carol ${'c'.repeat(16)} 100r/s\nshort c 1r/s`);
    await expect.poll(() => status('c'.repeat(16)), { timeout: 25_000, interval: 500 }).toBe(200);
    expect(await status(keys.alice)).toBe(401);
    expect(lines.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^EXPANDER_KEYS_FILE: line 2 is not NAME KEY RATE/),
    );
  });
});

describe('an unknown key', () => {
  test.each([
    ['/api', `key=none&${u()}`, {}],
    ['/api', `${u()}&k%65y=none`, {}],
    ['/api', `${u()}&key`, {}],
    ['/api', u(), { Authorization: 'Bearer none' }],
    ['/api', u(), { Authorization: 'Bearer ' }],
    ['/api', u(), { Authorization: `Bearer ${keys.alice.toLowerCase()}` }],
    ['/api', u(), { Authorization: `Bearer ${keys.alice}x` }],
    ['/api', `key=${keys.alice}&${u()}&key=${keys.bob}`, {}],
    ['/api/chain', `${u()}&key=none`, {}],
    ['/', `${u()}&key=none`, {}],
    ['/', 'u=a.example/x+b.example/y&key=none', {}],
  ])('returns 401 on %s?%s %j', async (path, query, headers) => {
    const { status, headers: sent } = await expander().ask(query, headers, path);
    expect(status).toBe(401);
    expect([sent.get('www-authenticate'), sent.get('cache-control')]).toEqual(['Bearer', 'no-store']);
  });

  test('is rejected by /api/expand and with format=json', async () => {
    const { app, ask } = expander();
    const list = await app.request('/api/expand?key=none', { method: 'POST', body: shortener.url });
    expect([list.status, await list.text()]).toEqual([401, 'This key is not valid.']);
    const body = await (await ask(`${u()}&format=json&key=none`)).json();
    const error = { code: 'unknown_key', message: 'This key is not valid.' };
    expect(body).toEqual({ ...error, end: error, reason: 'Unknown key', warning: null });
  });

  test('is limited to 60 requests a minute per address', async () => {
    const { ask } = expander();
    expect(new Set(await statuses(60, () => ask('key=none')))).toEqual(new Set([401]));
    expect((await ask('key=none')).status).toBe(429);
    expect((await ask('key=none', { 'X-Forwarded-For': '192.0.2.2' })).status).toBe(401);
    expect((await ask(`key=${keys.alice}&${u()}`)).status).toBe(200);
  });
});

test('keys are ignored without EXPANDER_KEYS_FILE', async () => {
  const { app } = testExpander();
  const headers = { Authorization: 'Bearer x' };
  expect((await app.request(`/api?${u()}&key=x&key=y`, { headers })).status).toBe(200);
});

test.each([
  ['without a rate', `alice ${keys.alice}`],
  ['with a rate per day', `alice ${keys.alice} 10r/d`],
  ['with a fourth word', `alice ${keys.alice} 10r/s x`],
  ['with a short key', 'alice short 10r/s'],
  ['with a key that is a pattern', `alice ${'.'.repeat(16)} 10r/s`],
  ['with an upper-case name', `Alice ${keys.alice} 10r/s`],
  ["with another line's name", `bob ${keys.alice} 1r/s`],
  ["with another line's key", `alice ${keys.bob} 1r/s`],
])('readKeys() reports a line %s without revealing the key', (_, line) => {
  const { keys: read, faults } = readKeys(`bob ${keys.bob} 1r/s\n${line}\ncarol ${'c'.repeat(16)} 1r/m`);
  expect([...read.values()].map(({ name }) => name)).toEqual(['bob', 'carol']);
  expect(faults).toEqual([
    expect.stringMatching(/^line 2 (is not NAME KEY RATE|repeats another line's name or key)/),
  ]);
  for (const key of Object.values(keys)) expect(faults.join()).not.toContain(key);
});
