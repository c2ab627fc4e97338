import { LRUCache } from 'lru-cache';
import type { Expansion, Trace, TraceOptions } from '../expansion/expansion.ts';
import { soon } from '../expansion/soon.ts';
import { asCached, type CacheResult, cacheKey, keptUntil, maxEntrySize, replay, sizeOf } from './entry.ts';

/** Characters of URLs that are kept, over all entries. */
const maxSize = 32 * 1024 * 1024;

/** What is known of a URL. */
export type Known = (url: string) => Expansion | undefined;

export interface Remembering extends Trace {
  /** The result that is fresh, where there is one. A hit is counted; who gets nothing asks on. */
  known(url: string, options: TraceOptions): Expansion | undefined;
}

/** Remembers expansions in this process, the least recently used ones making room. */
export function cachedInMemory(trace: Trace, count?: (result: CacheResult) => void): Remembering {
  const entries = new LRUCache<string, Expansion>({
    maxSize,
    maxEntrySize,
    sizeCalculation: (expansion, key) => key.length + sizeOf(expansion),
  });
  const known: Remembering['known'] = (url, options) => {
    const hit = entries.get(cacheKey(url, options));
    if (!hit || hit.error || hit.freshUntil <= Date.now()) return undefined;
    count?.('hit');
    return hit;
  };
  const remembering: Trace = (url, options) => {
    const key = cacheKey(url, options);
    const hit = options.refresh ? undefined : entries.get(key);
    if (hit && keptUntil(hit) > Date.now()) {
      count?.('hit');
      // Written over when it is first hit: most expansions are asked for once.
      const known = asCached(hit);
      if (known !== hit) entries.set(key, known);
      return replay(known, options);
    }
    if (!options.refresh) count?.('miss');
    return soon(trace(url, options), (expansion) => {
      if (keptUntil(expansion, options) > Date.now()) entries.set(key, expansion);
      return expansion;
    });
  };
  return Object.assign(remembering, { known });
}
