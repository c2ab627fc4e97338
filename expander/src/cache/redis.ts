import { type Timed, untimed } from '@longhand/shared/redis-operations.ts';
import type { Redis } from 'ioredis';
import type { Attempt } from './circuit-breaker.ts';
import type { Tier } from './expansion-cache.ts';

/** The commands of Redis that the cache uses. */
export type CacheClient = Pick<Redis, 'get' | 'set'>;

/** Part of every key. Increment it when the form of an entry changes: other entries are then ignored. */
const schemaVersion = 6;

/**
 * Keeps entries in Redis, for all replicas.
 *
 * @param attempt keeps a Redis that hangs from delaying every request.
 * @param allowedNetworks is part of every key: a result found in an exempt network is only for those who may go there.
 */
export function redisTier(
  redis: CacheClient,
  attempt: Attempt,
  allowedNetworks: readonly string[],
  timed: Timed = untimed,
): Tier {
  const scope = `expansion:${schemaVersion} [${allowedNetworks.toSorted().join(',')}]`;
  return {
    name: 'redis',
    get: (key) => timed('GET', () => attempt(() => redis.get(`${scope} ${key}`))),
    set(key, entry, expiresAt) {
      const milliseconds = Math.round(expiresAt - Date.now());
      // Nobody waits for the write; an entry that is lost is a miss.
      const write = () => redis.set(`${scope} ${key}`, entry, 'PX', milliseconds);
      timed('SET', () => attempt(write)).catch(() => {});
    },
  };
}
