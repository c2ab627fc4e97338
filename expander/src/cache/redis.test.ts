import { fileURLToPath } from 'node:url';
import { createLog } from '@longhand/shared/log.ts';
import { cacheClient, type StoreClient } from '@longhand/shared/redis.ts';
import type { App } from '@longhand/shared/routes.ts';
import { logged } from '@longhand/shared/testing/logged.ts';
import { startRedis, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { startShortener } from '@longhand/shortener';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import type { Expansion } from '../expansion/expansion.ts';

const shortener = await startShortener();

let server: TestRedis;
/** The expander's client, with short timeouts. */
let redis: StoreClient;
/** The test's client, which retries forever. */
let store: Redis;

beforeAll(async () => {
  server = await startRedis(fileURLToPath(new URL('../../redis.conf', import.meta.url)));
  redis = cacheClient({ REDIS_URL: server.url }, createLog('expander', 'silent'));
  store = new Redis(server.url, { maxRetriesPerRequest: null }).on('error', () => {});
});
afterAll(async () => {
  redis.disconnect();
  store.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await expect.poll(() => redis.ping().catch(() => 'away')).toBe('PONG');
  await store.flushall();
});

/** Returns a link that no test has requested before. */
let links = 0;
const link = (path: string) => `${shortener.url}${path}${path.includes('?') ? '&' : '?'}link=${links++}`;
/** Waits until Redis has the entry for `u`. */
const written = (u: string) => expect.poll(() => store.keys(`*${u}`)).toHaveLength(1);
const requests = () => [...shortener.requests.values()].reduce((sum, n) => sum + n, 0);

describe('the cache', () => {
  test('serves an entry to a new process without contacting the website', async () => {
    const u = link('/chain/2');
    const path = `/api/chain?u=${encodeURIComponent(u)}`;
    const chainOf = async (app: App): Promise<Expansion & { url: string }> =>
      JSON.parse(await (await app.request(path)).text());
    const first = await chainOf(testExpander({ redis }).app);
    await written(u);
    const before = requests();
    const { app, expand } = testExpander({ redis });
    const urls: string[] = [];
    await expand.chain(first.url, { onHop: ({ url }) => urls.push(url) });
    expect(urls).toEqual(first.hops.map(({ url }) => url));
    const hops = first.hops.map((hop) => ({ ...hop, cached: true }));
    expect(await chainOf(app)).toEqual({ ...first, hops, redirectCount: 2, cached: true });
    expect(requests()).toBe(before);
  });

  test('serves an entry that another replica has refreshed', async () => {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now });
    onTestFinished(() => void vi.useRealTimers());
    const u = link('/chain/1?status=302');
    const replicas = Array.from({ length: 3 }, () => testExpander({ redis }).expand);
    const entry = async () => (await store.keys(`*${u}`)).map((key) => store.get(key))[0];
    for (const { chain } of replicas) {
      await chain(u);
      await written(u);
    }
    const old = await entry();
    vi.setSystemTime(now + 11 * 60_000);
    const before = requests();
    const freshUntil = async ({ chain }: (typeof replicas)[number]) => (await chain(u)).freshUntil;
    for (const replica of replicas) {
      await expect.poll(() => freshUntil(replica)).toBeGreaterThan(Date.now());
      await expect.poll(entry).not.toBe(old);
    }
    // Only the first replica contacted the website.
    expect(requests() - before).toBe(2);
  });

  test('stores separate entries per follow mode and maxRedirect', async () => {
    const u = link('/chain/3?status=302');
    const { expand } = testExpander({ redis });
    const counts: number[] = [];
    for (const maxRedirect of [1, 5]) {
      expand.maxRedirect = maxRedirect;
      counts.push((await expand.chain(u)).redirectCount);
    }
    expect(counts).toEqual([2, 3]);
    const other = link('/chain/1?status=307');
    expect((await expand.chain(other)).redirectCount).toBe(0);
    expect((await expand.chain(other, { follow: 'all' })).redirectCount).toBe(1);
  });

  test('keeps an entry for its Cache-Control lifetime plus the stale period', async () => {
    const { app } = testExpander({ redis });
    const lives = async (path: string, seconds: number) => {
      const u = link(path);
      const response = await app.request(`/api?follow=all&u=${encodeURIComponent(u)}`);
      expect(response.headers.get('cache-control'), path).toBe(`public, max-age=${seconds}`);
      await written(u);
      const [key = ''] = await store.keys(`*${u}`);
      // Results may be stale for 10 more minutes, but errors may not.
      const lifetime = seconds <= 30 ? seconds : seconds + 600;
      // The test may have taken a few seconds.
      expect(Math.abs((await store.ttl(key)) - lifetime), path).toBeLessThan(5);
    };
    await Promise.all([
      // Permanent redirects: 24 h.
      lives('/chain/2', 86_400),
      lives('/chain/2?status=308', 86_400),
      // Other chains: 10 minutes.
      lives('/chain/2?status=302', 600),
      lives('/chain/0', 600),
      // Errors: 30 s.
      lives('/malformed', 30),
    ]);
  });

  test('does not serve results from a network that is no longer exempt', async () => {
    const networks = (list: string) => testExpander({ redis }, { EXPANDER_ALLOWED_NETWORKS: list }).expand;
    const errorAfter = async (before: string, after: string) => {
      const u = link('/chain/1');
      await networks(before).chain(u);
      await written(u);
      return (await networks(after).chain(u)).error?.code;
    };
    const codes = await Promise.all([
      errorAfter('127.0.0.0/8', ''),
      errorAfter('127.0.0.0/8,::1/128', '::1/128'),
    ]);
    expect(codes).toEqual(['target_refused', 'target_refused']);
  });

  test('misses if an entry is truncated or not an expansion', async () => {
    const missed = async (spoilt: (entry: string) => string) => {
      const u = link('/chain/1');
      await testExpander({ redis }).expand.chain(u);
      await written(u);
      const [key = ''] = await store.keys(`*${u}`);
      const entry = spoilt((await store.get(key)) ?? '');
      await store.set(key, entry);
      const followed = { redirectCount: 1, cached: false };
      expect(await testExpander({ redis }).expand.chain(u), entry).toMatchObject(followed);
    };
    const others = ['{', 'null', '{}', '{"hops":[],"freshUntil":9e15,"staleUntil":9e15}'];
    await Promise.all([...others.map((other) => missed(() => other)), missed((entry) => entry.slice(0, -1))]);
  });

  test('misses while Redis is down and recovers after its restart', async () => {
    const u = link('/chain/1');
    await server.kill();
    const { expand } = testExpander({ redis });
    expect(await expand.chain(u)).toMatchObject({ redirectCount: 1, cached: false, error: null });
    await server.start();
    await expect.poll(() => redis.ping().catch(() => 'away')).toBe('PONG');
    const other = link('/chain/1');
    await expand.chain(other);
    await written(other);
  });

  test('times out and warns only once while Redis hangs', async () => {
    const { lines, log } = logged();
    const { expand } = testExpander({ redis, log });
    lines.length = 0;
    // The second after which the circuit breaker probes Redis does not pass.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const expanded = { redirectCount: 1, error: null };
    await server.pause();
    try {
      expect(await expand.chain(link('/chain/1'))).toMatchObject(expanded);
      const commands = vi.spyOn(redis, 'get');
      expect(await expand.chain(link('/chain/1'))).toMatchObject(expanded);
      expect(commands).not.toHaveBeenCalled();
      commands.mockRestore();
    } finally {
      await server.resume();
    }
    const msg = expect.stringContaining('the cache in Redis did not respond within 250 ms');
    expect(lines).toMatchObject([{ msg }]);
  });
});

describe('expander/redis.conf', () => {
  test.each([
    ['evicts the least used entries', 'maxmemory-policy', 'allkeys-lfu'],
    ['limits memory', 'maxmemory', expect.stringMatching(/^[1-9]\d{6,}$/)],
    ['writes no snapshots', 'save', ''],
    ['writes no append-only file', 'appendonly', 'no'],
  ])('%s', async (_, setting, value) => {
    expect(await store.call('CONFIG', 'GET', setting)).toEqual([setting, value]);
  });
});
