import { startShortener } from '@longhand/shortener';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { answering } from '../testing/website.ts';
import type { CacheClient } from './cache/redis.ts';

const shortener = await startShortener();

/** Creates an expander. `counted` returns the non-zero lines of a metric. */
function counting(cache?: CacheClient) {
  const metrics = new Registry();
  const { app, expand } = testExpander({ metrics, ...(cache && { redis: cache }) });
  const counted = async (name: string) =>
    (await metrics.metrics()).split('\n').filter((line) => line.startsWith(name) && !line.endsWith(' 0'));
  return { app, expand, counted };
}

describe('/metrics counts', () => {
  test('cache lookups by tier and result', async () => {
    const entries = new Map<string, string>();
    let away = false;
    const redis = {
      get: async (key: string) => (away ? Promise.reject(new Error('away')) : (entries.get(key) ?? null)),
      set: async (key: string, entry: string) => entries.set(key, entry),
    } as unknown as CacheClient;
    await counting(redis).expand.chain(`${shortener.url}/chain/1`);
    await expect.poll(() => entries.size).toBe(1);
    const { expand, counted } = counting(redis);
    for (const path of ['/chain/1', '/chain/1', '/chain/2']) await expand.chain(shortener.url + path);
    away = true;
    await expand.chain(`${shortener.url}/chain/3`);
    expect(await counted('expander_cache_lookups_total')).toEqual([
      'expander_cache_lookups_total{tier="memory",result="hit"} 1',
      'expander_cache_lookups_total{tier="memory",result="miss"} 3',
      'expander_cache_lookups_total{tier="redis",result="hit"} 1',
      'expander_cache_lookups_total{tier="redis",result="miss"} 1',
      'expander_cache_lookups_total{tier="redis",result="failed"} 1',
    ]);
  });

  test('expansions by end code and hops by status class or error code', async () => {
    const { expand, counted } = counting();
    for (const path of ['/chain/1', '/chain/1', '/reset']) await expand.chain(shortener.url + path);
    expect((await counted('expander_expansions_total')).sort()).toEqual([
      'expander_expansions_total{end="final"} 2',
      'expander_expansions_total{end="request_failed"} 1',
    ]);
    expect((await counted('expander_hop_duration_seconds_count')).sort()).toEqual([
      'expander_hop_duration_seconds_count{error_type="request_failed"} 1',
      'expander_hop_duration_seconds_count{status_class="2xx"} 1',
      'expander_hop_duration_seconds_count{status_class="3xx"} 1',
    ]);
  });

  test('hops with invalid statuses as one class', async () => {
    const { expand, counted } = counting();
    let status = 0;
    const site = await answering((socket) => socket.end(`HTTP/1.1 ${status}\r\n\r\n`));
    for (status of [0, 99, 600, 1_000, 999_999_999]) {
      const { hops } = await expand.chain(`${site}${status}`);
      expect(hops.map((hop) => hop.status)).toEqual([status]);
    }
    expect(await counted('expander_hop_duration_seconds_count')).toEqual([
      'expander_hop_duration_seconds_count{status_class="other"} 5',
    ]);
  });

  test('refused targets', async () => {
    const { expand, counted } = counting();
    await expand.chain('http://10.0.0.1/');
    await expand.chain('http://10.0.0.1/');
    await expand.chain(`${shortener.url}/location?to=http://10.0.0.2/`);
    expect(await counted('expander_targets_refused_total')).toEqual(['expander_targets_refused_total 2']);
  });

  test('expansions in flight and hops that wait for a slot until their clients disconnect', async () => {
    const { expand, counted } = counting();
    const client = new AbortController();
    const ends = Array.from({ length: 60 }, (_, i) =>
      expand.chain(`${shortener.url}/hang?${i}`, { signal: client.signal, client: '192.0.2.1' }),
    );
    await expect.poll(() => counted('expander_hops_waiting')).toEqual(['expander_hops_waiting 4']);
    expect(await counted('expander_expansions_in_flight')).toEqual(['expander_expansions_in_flight 60']);
    client.abort();
    await Promise.all(ends);
    await expect.poll(() => counted('expander_hops_waiting')).toEqual([]);
    expect(await counted('expander_expansions_in_flight')).toEqual([]);
  });
});
