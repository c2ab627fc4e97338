import type { Timed } from '@longhand/shared/durations.ts';
import type { Redis } from 'ioredis';
import type { Counter } from 'prom-client';
import type { Expansion } from '../expansion/expansion.ts';
import { asCached, type SharedCache } from './caches.ts';

/** The Redis commands that the cache and the rate limit use. */
export type CacheClient = Pick<Redis, 'get' | 'set' | 'eval'>;

/** Part of every key. Increment it when the format of entries changes, so that old entries are ignored. */
const schemaVersion = 8;

/**
 * A cache in Redis, for all replicas.
 *
 * @param run protects requests from a hung Redis.
 * @param allowedNetworks part of every key, because a service with other exemptions must not serve these results.
 */
export function redisCache(
  redis: CacheClient,
  run: Timed,
  allowedNetworks: readonly string[],
  lookups?: Pick<Counter, 'inc'>,
): SharedCache {
  const scope = `expansion:${schemaVersion} [${allowedNetworks.toSorted().join(',')}]`;
  const counted = <Entry>(result: 'hit' | 'miss' | 'failed', entry: Entry) => {
    lookups?.inc({ tier: 'redis', result });
    return entry;
  };
  return {
    async get(key) {
      try {
        const text = await run('GET', () => redis.get(`${scope} ${key}`));
        if (text === null) return counted('miss', null);
        const expansion: Expansion = JSON.parse(text);
        if (!expansion.end) throw new TypeError('This is not a cached expansion.');
        return counted('hit', { expansion: asCached(expansion), text });
      } catch {
        return counted('failed', null);
      }
    },
    set(key, text, milliseconds) {
      // A failed write only causes a cache miss.
      run('SET', () => redis.set(`${scope} ${key}`, text, 'PX', Math.round(milliseconds))).catch(() => {});
    },
  };
}
