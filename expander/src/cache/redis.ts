import { createBatcher } from '@longhand/shared/batcher.ts';
import type { Redis } from 'ioredis';
import type { Expansion, Trace, TraceOptions } from '../expansion/expansion.ts';
import type { Attempt } from './circuit-breaker.ts';
import { type CacheResult, cacheKey, fromText, keptUntil, maxEntrySize, replay, toText } from './entry.ts';

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

/** Questions that travel together at the most: with the largest answers, 4 MiB. */
const most = 64;

/**
 * Remembers expansions in Redis, so that a hit makes no outgoing request. Redis away, slow or holding
 * something unreadable is a miss. `answers` has what is known answered, `keeps` what is made kept: work that is shared
 * belongs between them, as a hit needs none of it.
 */
export function redisCache({ redis, attempt, allowedNetworks, count }: RedisCacheOptions) {
  const scope = `${form} [${allowedNetworks.toSorted().join(',')}]`;
  const keyOf = (url: string, options: TraceOptions) => `${scope} ${cacheKey(url, options)}`;
  // A command costs its client many times what one more key in it does.
  const get = createBatcher((keys: readonly string[]) => attempt(() => redis.mget([...keys])), most);

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
        if (milliseconds <= 0) return expansion;
        const entry = toText(expansion);
        if (entry.length <= maxEntrySize) {
          // Nobody waits for it, and what is not kept is asked again.
          attempt(() => redis.set(keyOf(url, options), entry, 'PX', milliseconds)).catch(() => {});
        }
        return expansion;
      };
    },
  };
}
