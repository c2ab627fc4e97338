import type { Redis } from 'ioredis';
import { cacheKey, fromText, keptUntil, maxEntrySize, replay, toText } from './cache-entry.ts';
import type { Attempt } from './circuit-breaker.ts';
import type { Expansion, Trace, TraceOptions } from './expansion.ts';
import { gathered } from './gathered.ts';
import type { CacheResult } from './metrics.ts';

/** What the cache needs of a Redis client. */
export type CacheClient = Pick<Redis, 'mget' | 'set'>;

export interface RedisCacheOptions {
  redis: CacheClient;
  /** Sees to it that Redis is not waited for when it hangs. */
  attempt: Attempt;
  /** Networks that the guard lets pass: what was found through them is for those alone who may go there. */
  allowedNetworks: readonly string[];
  count: (result: CacheResult) => void;
}

/** Stands in every key: entries of another form are left unread. */
const form = 'expansion:3';

/**
 * Remembers expansions in Redis, so that a hit makes no outgoing request. Redis away, slow or holding
 * something unreadable is a miss. `answers` has what is known answered, `keeps` what is made kept: work that is shared
 * belongs between them, as a hit needs none of it.
 */
export function redisCache({ redis, attempt, allowedNetworks, count }: RedisCacheOptions) {
  const scope = `${form} [${allowedNetworks.toSorted().join(',')}]`;
  const keyOf = (url: string, options: TraceOptions) => `${scope} ${cacheKey(url, options)}`;
  const get = gathered((keys) => attempt(() => redis.mget(keys)));

  const find = async (key: string): Promise<Expansion | null> => {
    try {
      const entry = await get(key);
      const hit = entry === null ? null : fromText(entry);
      count(hit ? 'hit' : 'miss');
      return hit;
    } catch {
      count('failed');
      return null;
    }
  };

  return {
    answers(trace: Trace): Trace {
      return async (url, options) => {
        const hit = options.refresh ? null : await find(keyOf(url, options));
        return hit ? replay(hit, options) : trace(url, options);
      };
    },
    keeps(trace: Trace): Trace {
      return async (url, options) => {
        const expansion = await trace(url, options);
        const milliseconds = Math.round(keptUntil(expansion, options) - Date.now());
        const entry = toText(expansion);
        if (milliseconds > 0 && entry.length <= maxEntrySize) {
          // Nobody waits for it, and what is not kept is asked again.
          attempt(() => redis.set(keyOf(url, options), entry, 'PX', milliseconds)).catch(() => {});
        }
        return expansion;
      };
    },
  };
}
