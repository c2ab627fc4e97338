import { type Timed, untimed } from '@longhand/shared/redis-operations.ts';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Attempt } from './circuit-breaker.ts';
import type { Tier } from './expansion-cache.ts';

/** Bytes of all entries. */
const maxSize = 32 * 1024 * 1024;

/** Bytes that an entry takes beside its text and its key. */
const overhead = 200;

/** Keeps entries in this process; the least recently used ones make room. */
export function memoryTier(): Tier {
  const entries = new LRUCache<string, string>({
    maxSize,
    // An entry is ASCII: a byte for each character.
    sizeCalculation: (entry, key) => key.length + entry.length + overhead,
  });
  return {
    name: 'memory',
    async get(key) {
      return entries.get(key) ?? null;
    },
    set(key, entry) {
      entries.set(key, entry);
    },
  };
}

/** The commands of Redis that the cache uses. */
export type CacheClient = Pick<Redis, 'get' | 'set' | 'eval'>;

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
