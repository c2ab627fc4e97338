import { untimed } from '@longhand/shared/durations.ts';
import { createLog } from '@longhand/shared/log.ts';
import { cacheClient } from '@longhand/shared/redis.ts';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { startShortener } from '@longhand/shortener';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import type { CacheClient } from '../cache/redis.ts';
import { readRate, takeFromAll, takeLocally } from './rate.ts';

const shortener = await startShortener();

let server: TestRedis;
beforeAll(async () => {
  server = await startRedisProcess('expander/redis.conf');
});
afterAll(async () => {
  await server.stop();
});

/** Creates a replica that allows each client three expansions a minute. */
const replica = (outside: { redis?: CacheClient } = {}) =>
  testExpander(outside, { EXPANDER_CLIENT_RATE: '3r/m' }).app as unknown as Hono;
async function connect() {
  const redis = cacheClient({ REDIS_URL: server.url }, createLog('expander', 'silent'));
  onTestFinished(() => redis.disconnect());
  await expect.poll(() => redis.ping().catch(() => 'away')).toBe('PONG');
  return redis;
}
let links = 0;
const link = () => `${shortener.url}/chain/0?rate=${links++}`;
const ask = (app: Hono, client: string, url = link(), path = '/api') =>
  app.request(`${path}?u=${encodeURIComponent(url)}`, { headers: { 'X-Forwarded-For': client } });

/** Returns the statuses of `count` sequential requests. */
async function statusesOf(count: number, ask: (i: number) => Response | Promise<Response>) {
  const statuses = [];
  for (let i = 0; i < count; i += 1) {
    const response = await ask(i);
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

describe('the client rate limit', () => {
  test('applies to each client across all replicas', async () => {
    const redis = await connect();
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const replicas = [replica({ redis }), replica({ redis })];
    const statuses = await statusesOf(5, (i) => ask(replicas[i % 2] as Hono, '203.0.113.1'));
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await ask(replicas[0] as Hono, '203.0.113.2')).status).toBe(200);
    // Redis forgets clients once their full burst is available again.
    const left = await redis.pttl('rate:203.0.113.2');
    expect(left).toBeGreaterThan(10_000);
    expect(left).toBeLessThanOrEqual(20_000);
  });

  test('ignores cache hits', async () => {
    const app = replica({ redis: await connect() });
    const url = link();
    expect(await statusesOf(5, () => ask(app, '203.0.113.3', url))).toEqual(Array(5).fill(200));
    // The hops of an expansion are also cached.
    const [last, first] = [link(), link().replace('/chain/0', '/chain/1')];
    expect((await ask(app, '203.0.113.3', first)).status).toBe(200);
    expect((await ask(app, '203.0.113.3', first.replace('/chain/1', '/chain/0'))).status).toBe(200);
    expect((await ask(app, '203.0.113.3', last)).status).toBe(200);
    expect((await ask(app, '203.0.113.3')).status).toBe(429);
  });

  test('ignores refreshes of stale results', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const [app, url] = [replica(), link()];
    const cacheControl = async () => (await ask(app, '203.0.113.8', url)).headers.get('cache-control');
    expect(await cacheControl()).toContain('max-age=600');
    expect(await statusesOf(3, () => ask(app, '203.0.113.8'))).toEqual([200, 200, 429]);
    vi.advanceTimersByTime(11 * 60_000);
    expect(await cacheControl()).toBe('no-store');
    await expect.poll(cacheControl).toContain('max-age=600');
  });

  test('ignores targets that the guard refuses', async () => {
    const app = replica();
    const refused = await statusesOf(5, (i) => ask(app, '203.0.113.10', `http://10.0.0.${i}/`));
    expect(refused).toEqual(Array(5).fill(403));
    expect(await statusesOf(4, () => ask(app, '203.0.113.10'))).toEqual([200, 200, 200, 429]);
  });

  test.each(['/api', '/api/chain', '/'])('returns 429 and the time to wait on %s', async (path) => {
    const app = replica();
    for (let i = 0; i < 3; i++) await ask(app, '203.0.113.4');
    const { status, headers } = await ask(app, '203.0.113.4', link(), path);
    expect(status).toBe(429);
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(20);
    expect(headers.get('ratelimit-policy')).toBe('"expansions";q=3;w=60');
    expect(headers.get('ratelimit')).toBe(`"expansions";r=0;t=${wait}`);
    expect(headers.get('cache-control')).toContain('no-store');
  });

  test('applies to "Try again"', async () => {
    const [app, url] = [replica(), link()];
    const again = `/?u=${encodeURIComponent(url)}&again=1`;
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    expect(await statusesOf(4, () => app.request(again, { headers }))).toEqual([200, 200, 200, 429]);
  });

  test('applies to each replica while Redis is down', async () => {
    const away = { eval: () => Promise.reject(new Error('away')) };
    const nothing = { get: async () => null, set: async () => 'OK', ...away } as unknown as CacheClient;
    const app = replica({ redis: nothing });
    expect(await statusesOf(4, () => ask(app, '203.0.113.5'))).toEqual([200, 200, 200, 429]);
  });

  test('does not affect another client that requests the same URL', async () => {
    const app = replica();
    for (let i = 0; i < 3; i++) await ask(app, '203.0.113.6');
    const url = link();
    const [refused, served] = await Promise.all([ask(app, '203.0.113.6', url), ask(app, '203.0.113.7', url)]);
    expect([refused.status, served.status]).toEqual([429, 200]);
  });
});

test('each interval allows one more expansion', async () => {
  let now = 0;
  const take = takeLocally(() => now);
  const waits = async (count: number) => {
    const taken = [];
    for (let i = 0; i < count; i += 1) taken.push(await take('a', { count: 2, period: 1_000 }));
    return taken;
  };
  expect(await waits(3)).toEqual([0, 0, 500]);
  now = 499;
  expect(await waits(1)).toEqual([1]);
  now = 500;
  expect(await waits(2)).toEqual([0, 500]);
  now = 10_000;
  expect(await waits(3)).toEqual([0, 0, 500]);
});

test('a rate allows its whole count at once, and a new rate applies at once', async () => {
  for (const take of [takeLocally(() => 1e6 + 2 / 3), takeFromAll(await connect(), untimed)]) {
    const [old, raised] = [{ count: 1, period: 3_600_000 } as const, { count: 10, period: 1_000 } as const];
    expect(await take('203.0.113.11', old)).toBe(0);
    expect(await take('203.0.113.11', old)).toBeGreaterThan(3_000_000);
    expect(await take('203.0.113.11', raised)).toBeLessThanOrEqual(100);
    const burst = Array.from({ length: 600 }, () => take('203.0.113.12', { count: 600, period: 1_000 }));
    expect(new Set(await Promise.all(burst))).toEqual(new Set([0]));
    const fast = Array.from({ length: 6_000 }, () => take('203.0.113.13', { count: 2_000, period: 1_000 }));
    expect(Math.max(...(await Promise.all(fast)))).toBeGreaterThan(0);
  }
});

test.each([
  ['60r/m', { count: 60, period: 60_000 }],
  ['5r/s', { count: 5, period: 1_000 }],
  ['1000r/h', { count: 1_000, period: 3_600_000 }],
  ['0r/s', undefined],
  ['10', undefined],
  ['10r/d', undefined],
])('reads %s as %o', (text, rate) => {
  expect(readRate(text)).toEqual(rate);
});
