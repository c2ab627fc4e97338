import type { Log } from '@longhand/shared/log.ts';
import type { Redis } from 'ioredis';
import type { Expansion, Trace } from './expand.ts';
import { lifetime } from './lifetime.ts';

/** What the cache needs of a Redis client. */
export type CacheClient = Pick<Redis, 'get' | 'set'>;

/** The form of the entries; a new one leaves the old ones unread. */
const version = 1;

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
    const key = `expansion:${version}:${options.follow}:${options.maxRedirect}:${url}`;
    const hit = await redis.get(key).then(parse).catch(missed);
    if (hit) {
      for (const hop of hit.hops) options.onHop?.(hop);
      return hit;
    }
    const expansion = await trace(url, options);
    const seconds = lifetime(expansion);
    if (seconds > 0) redis.set(key, JSON.stringify(expansion), 'EX', seconds).catch(missed);
    return expansion;
  };
}

function parse(text: string | null): Expansion | null {
  if (text === null) return null;
  const expansion = JSON.parse(text) as Expansion;
  return { ...expansion, cached: true, hops: expansion.hops.map((hop) => ({ ...hop, cached: true })) };
}
