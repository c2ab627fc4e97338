import { LRUCache } from 'lru-cache';
import type { Trace, TraceOptions } from '../expansion/expansion.ts';
import { soon } from '../expansion/soon.ts';
import { cacheKey } from './entry.ts';

/** Entries of which is remembered that they could not be made anew. */
const max = 10_000;

/**
 * Answers at once with a remembered expansion past its time, and has it made anew for the next who asks. Where
 * that fails, the host is left alone for as long as such a failure is remembered of any other URL.
 */
export function staleWhileRevalidate(trace: Trace): Trace {
  /** Until when the expansion is not made anew (milliseconds since 1970). */
  const notBefore = new LRUCache<string, number>({ max });

  const refresh = async (key: string, url: string, { follow, maxRedirect }: TraceOptions) => {
    notBefore.set(key, Number.POSITIVE_INFINITY);
    try {
      const { error, freshUntil } = await trace(url, { follow, maxRedirect, refresh: true });
      if (error) notBefore.set(key, freshUntil);
      else notBefore.delete(key);
    } catch {
      // Nobody waits for it; what goes wrong leaves the entry as it is.
      notBefore.delete(key);
    }
  };
  return (url, options) =>
    soon(trace(url, options), (expansion) => {
      const now = Date.now();
      if (!expansion.cached || expansion.freshUntil > now) return expansion;
      const key = cacheKey(url, options);
      if ((notBefore.get(key) ?? 0) <= now) refresh(key, url, options);
      return expansion;
    });
}
