import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { type RequestOptions, send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { logged, obedientApplication, ordering, startProxied } from './testing/proxied.ts';

const keys = { alice: 'AliceAliceAlice-1', bob: 'bob_bob_bob_bob_2', carol: 'carolcarolcarol-3' };
const file = `# NAME KEY RATE
alice ${keys.alice} 100r/s

bob\t${keys.bob}  2r/m\r
carol ${keys.carol} 100r/s`;
const kept = ordering({ headers: { 'X-Accel-Expires': '30' } });

const folder = mkdtempSync(join(tmpdir(), 'longhand-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

function startProxy(application: http.Server, text?: string): Promise<TemporaryProxy> {
  const path = join(folder, 'keys');
  if (text !== undefined) writeFileSync(path, text);
  const EXPANDER_TOKENS_FILE = text === undefined ? '' : path;
  return startProxied(application, { LONGHAND_API_RATE: '4r/m', EXPANDER_TOKENS_FILE });
}

describe('With keys', async () => {
  const application = obedientApplication();
  const proxy = await startProxy(application.server, file);
  afterAll(proxy.stop);
  const ask = (path: string, options?: RequestOptions) => send(proxy.ports.expander, path, options);
  const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

  test.each([
    ['/api?u=1&key=KEY', '/api?u=1'],
    ['/api?key=KEY&u=2', '/api?u=2'],
    ['/api?u=3&key=KEY&cb=f', '/api?u=3&cb=f'],
    ['/api?u=3%26&Key=KEY&&cb=?key', '/api?u=3%26&&cb=?key'],
    ['/api?key=KEY', '/api'],
    ['/api/chain?u=4&monkey=1&key=KEY', '/api/chain?u=4&monkey=1'],
    ['/api/expand?follow=all&key=KEY', '/api/expand?follow=all'],
    ['/?u=5&key=KEY&follow=all', '/?u=5&follow=all'],
  ])('the name reaches the expander, and the key does not: %s', async (path, arrived) => {
    const method = path.includes('expand') ? 'POST' : 'GET';
    const response = await ask(path.replace('KEY', keys.alice), { method });
    expect(application.arrived.at(-1)).toMatchObject({ url: arrived, headers: { 'x-key-name': 'alice' } });
    expect(await logged(() => proxy.log, response)).toMatchObject({ key: 'alice', status: 200 });
  });

  test('one answer is cached for all keys, sent either way', async () => {
    const path = `/api?u=cached&${kept}`;
    const states = [];
    for (const [more, options] of [
      [`&key=${keys.alice}`, {}],
      [`&key=${keys.carol}`, {}],
      ['', bearer(keys.carol)],
      ['', {}],
    ] as const) {
      const { cache, key } = await logged(() => proxy.log, await ask(path + more, options));
      states.push([cache, key]);
    }
    expect(states).toEqual([
      ['MISS', 'alice'],
      ['HIT', 'carol'],
      ['HIT', 'carol'],
      ['HIT', ''],
    ]);
  });

  test('the log has no key, only its name', () => {
    expect(proxy.log.some((line) => line.includes('alice'))).toBe(true);
    expect(proxy.log.filter((line) => Object.values(keys).some((key) => line.includes(key)))).toEqual([]);
  });

  test.each([
    ['/api?u=1&key=none', {}],
    ['/api?u=1', bearer('none')],
    ['/api?u=1', bearer(keys.alice.toLowerCase())],
    ['/api?u=1', bearer(`${keys.alice}x`)],
    [`/api?key=${keys.alice}&u=1&key=${keys.bob}`, {}],
    ['/api/chain?u=1&key=none', {}],
    ['/api/expand?key=none', { method: 'POST' }],
    ['/?u=1&key=none', {}],
    ['/api?u=1&key=none', { headers: { 'CDN-Loop': 'other' } }],
  ])('an unknown key is 401, and reaches nothing: %s %j', async (path, options) => {
    const before = application.arrived.length;
    const { status, headers, body } = await ask(path, options);
    expect([status, headers['www-authenticate'], application.arrived.length]).toEqual([
      401,
      'Bearer',
      before,
    ]);
    expect(headers).toMatchObject({ 'content-type': 'text/html', 'x-power-by': 'Longhand' });
    expect(body).toContain('This key is not known here');
  });

  test('a program that asks for JSON is told of its key in JSON', async () => {
    const { body } = await ask('/api?u=1&format=json&key=none');
    expect(JSON.parse(body)).toEqual({ code: 'unknown_key', message: 'This key is not known here.' });
  });

  test('no client names itself, and the expander gets neither Authorization nor a cookie', async () => {
    for (const [path, Authorization, name] of [
      ['/nowhere', 'Basic YTpi', undefined],
      ['/api/expand', `Bearer ${keys.alice}`, 'alice'],
      ['/api?u=private', `Bearer ${keys.alice}`, 'alice'],
    ] as const) {
      for (const loop of [{}, { 'CDN-Loop': 'other' }]) {
        const sent = { 'X-Key-Name': 'bob', Authorization, Cookie: 'login=of tasks', ...loop };
        await ask(path, { headers: sent });
        const { headers } = application.arrived.at(-1) ?? {};
        expect([path, headers?.['x-key-name']]).toEqual([path, name]);
        for (const secret of ['authorization', 'cookie']) expect(headers).not.toHaveProperty(secret);
      }
    }
  });

  test('tasks has keys of its own', async () => {
    await send(proxy.ports.tasks, '/tasks?key=a', bearer('its own'));
    expect(application.arrived.at(-1)).toMatchObject({
      url: '/tasks?key=a',
      headers: { authorization: 'Bearer its own' },
    });
  });

  test('each key has its own rate, apart from the address and the other keys', async () => {
    const statuses = async (n: number, more: string) => {
      const all = [];
      for (let i = 0; i < n; i += 1) all.push((await ask(`/api?u=rate${more}`)).status);
      return all;
    };
    // The burst is as large as the rate.
    expect(await statuses(4, `&key=${keys.bob}`)).toEqual([200, 200, 200, 429]);
    expect((await statuses(8, '')).at(-1)).toBe(429);
    expect(await statuses(8, `&key=${keys.alice}`)).toEqual(Array(8).fill(200));
  });
});

test('without a file `key` is an argument like any other, and Authorization means nothing', async () => {
  const application = obedientApplication();
  const proxy = await startProxy(application.server);
  const headers = { Authorization: 'Bearer x', 'X-Key-Name': 'alice' };
  const { status } = await send(proxy.ports.expander, '/api?u=1&key=x&key=y', { headers });
  expect(status).toBe(200);
  expect(application.arrived.at(-1)?.url).toBe('/api?u=1&key=x&key=y');
  expect(application.arrived.at(-1)?.headers).not.toHaveProperty('x-key-name');
  expect(application.arrived.at(-1)?.headers).not.toHaveProperty('authorization');
  await proxy.stop();
});

test('a file that cannot be read ends the start with what lets its user do so', async () => {
  await expect(startProxied(http.createServer(), { EXPANDER_TOKENS_FILE: '/nowhere' })).rejects.toThrow(
    `EXPANDER_TOKENS_FILE=/nowhere: cannot be read: chown ${process.getuid?.()} FILE && chmod 400 FILE`,
  );
});

test.each([
  ['without a rate', `alice ${keys.alice}`],
  ['with a rate by the hour', `alice ${keys.alice} 10r/h`],
  ['with a fourth word', `alice ${keys.alice} 10r/s x`],
  ['with a short key', 'alice short 10r/s'],
  ['with a key that is a pattern', `alice ${'.'.repeat(16)} 10r/s`],
  ['with a name in capitals', `Alice ${keys.alice} 10r/s`],
  ['with the name of another', `bob ${keys.bob} 1r/s\nbob ${keys.alice} 1r/s`],
  ['with the key of another', `bob ${keys.bob} 1r/s\nalice ${keys.bob} 1r/s`],
])('a line %s ends the start with its number, and shows no key', (_, text) => {
  const EXPANDER_TOKENS_FILE = join(folder, 'invalid');
  writeFileSync(EXPANDER_TOKENS_FILE, text);
  const env = { PATH: process.env.PATH, EXPANDER_TOKENS_FILE, NGINX_ENVSUBST_OUTPUT_DIR: folder };
  const { status, stderr } = spawnSync(join(import.meta.dirname, 'keys.sh'), { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    78,
    expect.stringMatching(new RegExp(`^EXPANDER_TOKENS_FILE=\\S+: line ${text.split('\n').length} `)),
  ]);
  for (const key of Object.values(keys)) expect(stderr).not.toContain(key);
});
