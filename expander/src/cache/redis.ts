import type { Timed } from '@longhand/shared/durations.ts';
import type { Redis } from 'ioredis';
import type { Expansion } from '../expansion/expansion.ts';
import { asCached, type LookupCounter, type SharedCache } from './caches.ts';

/** The commands of Redis that the cache uses. */
export type CacheClient = Pick<Redis, 'get' | 'set' | 'eval'>;

/** Part of every key. Increment it when the form of an entry changes: other entries are then ignored. */
const schemaVersion = 8;

/**
 * Keeps entries in Redis, for all replicas.
 *
 * @param run keeps a Redis that hangs from delaying every request.
 * @param allowedNetworks is part of every key: a result from an exempt network is for services with that exemption only.
 */
export function redisCache(
  redis: CacheClient,
  run: Timed,
  allowedNetworks: readonly string[],
  lookups?: LookupCounter,
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
      // A lost write is a cache miss.
      run('SET', () => redis.set(`${scope} ${key}`, text, 'PX', Math.round(milliseconds))).catch(() => {});
    },
  };
}
