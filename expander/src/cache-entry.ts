import type { Expansion, TraceOptions } from './expansion.ts';

/** Milliseconds for which a result past its time still answers, while it is asked anew. */
const maxStale = 60 * 60 * 1_000;

/** Characters of the largest entry that is kept. */
export const maxEntrySize = 64 * 1024;

/** What an expansion depends on. */
export function cacheKey(url: string, { follow, maxRedirect }: TraceOptions): string {
  return `${follow} ${maxRedirect} ${url}`;
}

/**
 * Until when an entry is kept (milliseconds since 1970): a failure to the end of its time, a result for a
 * while longer. A failed refresh is not kept at all, so that it leaves the result before it alone.
 */
export function keptUntil({ error, freshUntil }: Expansion, options?: TraceOptions): number {
  if (error) return options?.refresh ? 0 : freshUntil;
  return freshUntil + maxStale;
}

/** The expansion as it is told when it is remembered. */
export function asCached(expansion: Expansion): Expansion {
  if (expansion.cached) return expansion;
  return { ...expansion, cached: true, hops: expansion.hops.map((hop) => ({ ...hop, cached: true })) };
}

/** Tells the hops of a remembered expansion. */
export function replay(expansion: Expansion, { onHop }: TraceOptions): Expansion {
  if (onHop) expansion.hops.forEach(onHop);
  return expansion;
}
