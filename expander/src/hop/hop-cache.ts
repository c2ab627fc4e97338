import { LRUCache } from 'lru-cache';
import type { Answer, FetchHop } from '../expansion/expansion.ts';
import { withoutFragment } from '../expansion/target.ts';
import { createFlights, createLimit } from '../limits/in-flight.ts';

/** Answers kept for each way to follow, and characters of the longest one with its URL: 20 MiB together. */
const maxAnswers = 5_000;
const maxLength = 2_048;

/** Hops in flight at one origin: a host that hangs uses up its own share and nobody else's. */
const maxPerOrigin = 64;

/**
 * Caches single answers, so that two short URLs into one chain share its hops. What a website answers to a cookie, or
 * with one, is for one chain only.
 */
export function cacheHops(fetchHop: FetchHop): FetchHop {
  const caches = {
    default: new LRUCache<string, Answer>({ max: maxAnswers }),
    all: new LRUCache<string, Answer>({ max: maxAnswers }),
  };
  return async (url, options) => {
    const cache = caches[options.follow];
    if (options.cookie) return fetchHop(url, options);
    const key = withoutFragment(url);
    const hit = options.refresh ? undefined : cache.get(key);
    if (hit && hit.freshUntil > Date.now()) return { ...hit, cached: true };
    const answer = await fetchHop(url, options);
    const { location, refresh, setCookies } = answer;
    const length = key.length + (location?.length ?? 0) + (refresh?.url.length ?? 0);
    if (length <= maxLength && !setCookies) cache.set(key, answer);
    return answer;
  };
}

/**
 * One request at a time for each hop, shared by the chains that meet there; each waits no longer than its own deadline.
 * Requests that join an in-flight hop also count toward the per-origin limit.
 */
export function shareHops(fetchHop: FetchHop): FetchHop {
  const atOrigin = createLimit(maxPerOrigin, (origin) => `Too many expansions are waiting for ${origin}`);
  const join = createFlights<Answer>();
  return (url, options) =>
    atOrigin(url.origin, () => {
      const { follow, cookie, signal } = options;
      if (cookie) return fetchHop(url, options);
      return join(`${follow} ${withoutFragment(url)}`, { signal }, (signal) =>
        fetchHop(url, { follow, signal }),
      );
    });
}
