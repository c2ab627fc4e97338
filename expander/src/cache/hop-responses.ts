import { LRUCache } from 'lru-cache';
import { atMost } from '../expansion/at-most.ts';
import type { FetchHop, HopRequest, HopResponse } from '../expansion/expansion.ts';
import { endsInFailure } from '../expansion/lifetime.ts';
import { nextStep } from '../expansion/session.ts';
import { withoutFragment } from '../expansion/target.ts';

/** Maximum number of cached responses (20 MiB in total). */
const maxResponses = 10_000;
/** Maximum length of a response plus its URL, in characters. */
const maxResponseSize = 2_048;

/**
 * A layer that caches the responses of single hops for all chains. Does not cache responses that depend on a cookie or a
 * Referer, or set a cookie, or redirects that cannot be followed, because the website may repair them. A failure never replaces
 * a fresh response.
 *
 * @param takeSlots a layer that delays cache misses. Each delayed hop looks in the cache again.
 */
export function cacheHopResponses(takeSlots = (fetchHop: FetchHop) => fetchHop) {
  const cache = new LRUCache<string, HopResponse>(atMost(maxResponses));
  const keyOf = (url: URL, { chain }: HopRequest) => `${chain.follow} ${withoutFragment(url)}`;
  const find = (key: string) => {
    const response = cache.get(key);
    return response && response.freshUntil > Date.now() && !response.source?.hasStrayed ? response : null;
  };
  const serve = (url: URL, request: HopRequest): HopResponse | null => {
    const { chain, cookie, referer, isRepeated } = request;
    if (cookie || referer || isRepeated || chain.again || chain.revalidates) return null;
    const response = find(keyOf(url, request));
    return response && { ...response, cached: true };
  };
  const store = (url: URL, request: HopRequest, response: HopResponse) => {
    const { location, refresh, title, setCookies } = response;
    const { length } = [withoutFragment(url), location, refresh?.url, title].join('');
    if (request.cookie || request.referer || setCookies || length > maxResponseSize) return;
    const { end } = nextStep({ text: url.href, url }, response, request.chain.follow);
    if (end && end.code !== 'final') return;
    const key = keyOf(url, request);
    if (!endsInFailure(response) || !find(key)) cache.set(key, response);
  };

  return (fetchHop: FetchHop): FetchHop => {
    const fetchInSlot = takeSlots(async (url, request) => {
      // Another chain may have cached the response while this hop waited for a slot.
      const hit = serve(url, request);
      if (hit) return hit;
      const response = await fetchHop(url, request);
      // The response may be incomplete after an abort.
      request.chain.signal?.throwIfAborted();
      store(url, request, response);
      return response;
    });
    return async (url, request) => serve(url, request) ?? fetchInSlot(url, request);
  };
}
