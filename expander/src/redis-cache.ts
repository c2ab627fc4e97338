import type { Log } from '@longhand/shared/log.ts';
import type { Redis } from 'ioredis';
import { asCached, cacheKey, keptUntil, maxEntrySize, replay } from './cache-entry.ts';
import type { Expansion, Trace } from './expansion.ts';

/** What the cache needs of a Redis client. */
export type CacheClient = Pick<Redis, 'get' | 'set'>;

/** Stands in every key: entries of another form are left unread. */
const form = 'expansion:1';

/**
 * Remembers expansions in Redis, so that a hit makes no outgoing request. Redis away, slow or holding
 * something unreadable is a miss.
 */
export function cachedInRedis(trace: Trace, redis: CacheClient, log: Log): Trace {
  const missed = (err: unknown) => {
    log.debug({ err }, 'the cache did not answer');
    return null;
  };
  return async (url, options) => {
    const key = `${form} ${cacheKey(url, options)}`;
    const hit = options.refresh ? null : await redis.get(key).then(parse).catch(missed);
    if (hit) return replay(hit, options);
    const expansion = await trace(url, options);
    const milliseconds = Math.round(keptUntil(expansion, options) - Date.now());
    const entry = JSON.stringify(expansion);
    if (milliseconds > 0 && entry.length <= maxEntrySize) {
      redis.set(key, entry, 'PX', milliseconds).catch(missed);
    }
    return expansion;
  };
}

function parse(text: string | null): Expansion | null {
  return text === null ? null : asCached(JSON.parse(text));
}
