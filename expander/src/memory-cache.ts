import { LRUCache } from 'lru-cache';
import { asCached, cacheKey, keptUntil, maxEntrySize, replay, sizeOf } from './cache-entry.ts';
import type { Expansion, Trace } from './expansion.ts';
import type { CacheResult } from './metrics.ts';
import { soon } from './soon.ts';

/** Characters of URLs that are kept, over all entries. */
const maxSize = 32 * 1024 * 1024;

/** Remembers expansions in this process, the least recently used ones making room. */
export function cachedInMemory(trace: Trace, count?: (result: CacheResult) => void): Trace {
  const entries = new LRUCache<string, Expansion>({
    maxSize,
    maxEntrySize,
    sizeCalculation: (expansion, key) => key.length + sizeOf(expansion),
  });
  return (url, options) => {
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
}
