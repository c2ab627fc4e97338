import { LRUCache } from 'lru-cache';
import type { Tier } from './expansion-cache.ts';

/** Bytes of all entries. */
const maxSize = 32 * 1024 * 1024;

/** Bytes that an entry takes beside its text and its key. */
const overhead = 200;

/** Keeps entries in this process; the least recently used ones make room. */
export function memoryTier(): Tier {
  const entries = new LRUCache<string, string>({
    maxSize,
    // An entry is ASCII: a byte for each character.
    sizeCalculation: (entry, key) => key.length + entry.length + overhead,
  });
  return {
    name: 'memory',
    async get(key) {
      return entries.get(key) ?? null;
    },
    set(key, entry) {
      entries.set(key, entry);
    },
  };
}
