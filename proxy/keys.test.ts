import { type RequestOptions, send } from '@longhand/shared/testing/send.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, expect, test } from 'vitest';
import { replyWith, scriptedApplication, startProxied } from './testing/proxied.ts';

/** Starts nginx in front of an expander. */
async function start(EXPANDER_KEYS_FILE: string, edit?: Parameters<typeof startProxied>[2]) {
  const application = scriptedApplication();
  const proxy = await startProxied(
    application.server,
    { LONGHAND_API_RATE: '4r/m', EXPANDER_KEYS_FILE },
    edit,
  );
  afterAll(proxy.stop);
  const ask = (path: string, options?: RequestOptions) => send(proxy.ports.expander, path, options);
  const statuses = async (count: number, path: string, headers = {}) => {
    const all = [];
    for (let i = 0; i < count; i += 1) all.push((await ask(path, { headers })).status);
    return all;
  };
  return { application, proxy, ask, statuses };
}

const keys = textFile('alice AliceAliceAlice-1 1r/s');
const withKeys = await start(keys);
const bounded = await start(keys, (text) =>
  text.replace('rate=1000r/s', 'rate=1r/m').replace('burst=1000', 'burst=1'),
);
const without = await start('');
const kept = replyWith({ headers: { 'X-Accel-Expires': '30' } });
const bearer = { Authorization: 'Bearer AliceAliceAlice-1' };

test.each([
  [`/api?key=x&${kept}`, {}],
  [`/api/chain?${kept}&key=x`, {}],
  [`/api?u=1&%6B%65%79=x&${kept}`, {}],
  [`/api?k%65y=x&${kept}`, {}],
  [`/api?${kept}`, bearer],
])('a request with a key bypasses the cache and LONGHAND_API_RATE: %s %j', async (path, headers) => {
  const { application, statuses } = withKeys;
  const before = application.arrived.length;
  expect(await statuses(8, path, headers)).toEqual(Array(8).fill(200));
  expect(application.arrived.length - before).toBe(8);
  expect(application.arrived.at(-1)).toMatchObject({
    url: path,
    ...('Authorization' in headers && { headers: { authorization: bearer.Authorization } }),
  });
});

test('the log contains no keys', () => {
  expect(withKeys.proxy.log.filter((line) => /AliceAlice|key=/.test(line))).toEqual([]);
});

test.each([
  ['/api?u=1', {}],
  ['/api?u=1&monkey=1', {}],
  ['/api?u=1&Key=1', {}],
  ['/api?u=1', { Authorization: 'Basic &key=' }],
])('LONGHAND_API_RATE applies to a request without a key: %s %j', async (path, headers) => {
  expect((await withKeys.statuses(8, path, headers)).at(-1)).toBe(429);
});

test('nginx limits each address to 1,000 requests with a key per second', async () => {
  expect(await bounded.statuses(3, '/api?key=x')).toEqual([200, 200, 429]);
});

test('nginx ignores `key` and Authorization without EXPANDER_KEYS_FILE', async () => {
  const { application, statuses } = without;
  expect(await statuses(1, '/api?u=1&key=x', bearer)).toEqual([200]);
  expect(application.arrived.at(-1)?.url).toBe('/api?u=1&key=x');
  expect(application.arrived.at(-1)?.headers).not.toHaveProperty('authorization');
  expect((await statuses(8, '/api?key=1', { Authorization: '1 Bearer x' })).at(-1)).toBe(429);
});

test('nginx removes cookies and Authorization headers that contain no key', async () => {
  const headers = { Authorization: 'Basic YTpi', Cookie: 'login=of tasks' };
  for (const path of ['/nowhere', '/api/expand?key=x', '/api?u=private&key=x']) {
    await withKeys.ask(path, { headers });
    for (const secret of ['authorization', 'cookie'])
      expect(withKeys.application.arrived.at(-1)?.headers).not.toHaveProperty(secret);
  }
});
