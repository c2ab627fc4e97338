import type { Redis } from 'ioredis';
import { asCached, cacheKey, keptUntil, maxEntrySize, replay } from './cache-entry.ts';
import type { Attempt } from './circuit-breaker.ts';
import type { Expansion, Trace } from './expansion.ts';
import type { CacheResult } from './metrics.ts';

/** What the cache needs of a Redis client. */
export type CacheClient = Pick<Redis, 'get' | 'set'>;

export interface RedisCacheOptions {
  redis: CacheClient;
  /** Sees to it that Redis is not waited for when it hangs. */
  attempt: Attempt;
  /** Networks that the guard lets pass: what was found through them is for those alone who may go there. */
  allowedNetworks: readonly string[];
  count: (result: CacheResult) => void;
}

/** Stands in every key: entries of another form are left unread. */
const form = 'expansion:2';

/**
 * Remembers expansions in Redis, so that a hit makes no outgoing request. Redis away, slow or holding
 * something unreadable is a miss.
 */
export function cachedInRedis(
  trace: Trace,
  { redis, attempt, allowedNetworks, count }: RedisCacheOptions,
): Trace {
  const scope = `${form} [${allowedNetworks.toSorted().join(',')}]`;

  const read = async (key: string): Promise<Expansion | null> => {
    try {
      const entry = await attempt(() => redis.get(key));
      const hit = entry === null ? null : asCached(JSON.parse(entry));
      count(hit ? 'hit' : 'miss');
      return hit;
    } catch {
      count('failed');
      return null;
    }
  };

  return async (url, options) => {
    const key = `${scope} ${cacheKey(url, options)}`;
    const hit = options.refresh ? null : await read(key);
    if (hit) return replay(hit, options);
    const expansion = await trace(url, options);
    const milliseconds = Math.round(keptUntil(expansion, options) - Date.now());
    const entry = JSON.stringify(expansion);
    if (milliseconds > 0 && entry.length <= maxEntrySize) {
      // Nobody waits for it, and what is not kept is asked again.
      attempt(() => redis.set(key, entry, 'PX', milliseconds)).catch(() => {});
    }
    return expansion;
  };
}
