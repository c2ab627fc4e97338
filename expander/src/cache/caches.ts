import { LRUCache } from 'lru-cache';
import type { Answer, ExpandOptions, Expansion, FetchHop, Unshorten } from '../expansion/expansion.ts';
import { type Target, withoutFragment } from '../expansion/target.ts';

/** Keeps expansions for all replicas. */
export interface SharedCache {
  /** The expansion of `key`, which may have expired. @throws if the cache is away, or has something else. */
  get(key: string): Promise<{ expansion: Expansion; text: string } | null>;
  /** Keeps `text`, an expansion as JSON. */
  set(key: string, text: string, milliseconds: number): void;
}

/** Counts the lookups in each tier. */
export interface LookupCounter {
  inc(labels: { tier: 'memory' | 'redis'; result: 'hit' | 'miss' | 'failed' }): void;
}

/** Characters of the largest entry. */
const maxEntrySize = 64 * 1024;

/** What an expansion depends on. */
export function cacheKey({ text }: Target, { follow, maxRedirect }: ExpandOptions): string {
  return `${follow} ${maxRedirect} ${text}`;
}

/** Answers from `memory` before any layer that shares or limits work: a hit causes none. */
export function answerFromMemory(memory: MemoryTier, lookups?: LookupCounter) {
  return (unshorten: Unshorten): Unshorten =>
    async (target, options) => {
      if (options.again) return unshorten(target, options);
      const hit = memory.get(cacheKey(target, options));
      lookups?.inc({ tier: 'memory', result: hit ? 'hit' : 'miss' });
      if (!hit) return unshorten(target, options);
      for (const hop of hit.hops) options.onHop?.(hop);
      return hit;
    };
}

/** Caches expansions in `memory` and in `redis`, and answers from that. A cache that fails is a miss. */
export function cacheExpansions(memory: MemoryTier, redis?: SharedCache, lookups?: LookupCounter) {
  const fromRedis = async (key: string, cache: SharedCache): Promise<Expansion | null> => {
    try {
      const entry = await cache.get(key);
      const hit = entry && isFresh(entry.expansion) ? entry : null;
      lookups?.inc({ tier: 'redis', result: hit ? 'hit' : 'miss' });
      if (!hit) return null;
      memory.set(key, hit.expansion, hit.text);
      return hit.expansion;
    } catch {
      lookups?.inc({ tier: 'redis', result: 'failed' });
      return null;
    }
  };
  const write = (key: string, expansion: Expansion) => {
    if (!isFresh(expansion)) return;
    const text = JSON.stringify(expansion);
    if (text.length > maxEntrySize) return;
    memory.set(key, asCached(expansion), text);
    redis?.set(key, text, expansion.freshUntil - Date.now());
  };

  return (unshorten: Unshorten): Unshorten =>
    async (target, options) => {
      const key = cacheKey(target, options);
      const hit = redis && !options.again ? await fromRedis(key, redis) : null;
      if (hit) {
        for (const hop of hit.hops) options.onHop?.(hop);
        return hit;
      }
      const expansion = await unshorten(target, options);
      write(key, expansion);
      return expansion;
    };
}

/** `expansion`, marked as cached with all its hops. */
export function asCached(expansion: Expansion): Expansion {
  return { ...expansion, cached: true, hops: expansion.hops.map((hop) => ({ ...hop, cached: true })) };
}

function isFresh({ freshUntil }: { freshUntil: number }): boolean {
  return freshUntil > Date.now();
}

/** Bytes of all entries: as objects they take hardly more than as text. */
const maxSize = 32 * 1024 * 1024;

/** Bytes that an entry takes in addition to its text and key. */
const overhead = 200;

export type MemoryTier = ReturnType<typeof memoryTier>;

/** Keeps expansions, marked as cached, in this process; the least recently used ones make room. */
export function memoryTier() {
  const entries = new LRUCache<string, Expansion>({ maxSize });
  return {
    /** The fresh expansion of `key`, shared by all callers. */
    get(key: string) {
      const entry = entries.get(key);
      return entry && isFresh(entry) ? entry : null;
    },
    set(key: string, expansion: Expansion, text: string) {
      // V8 keeps two bytes for each character if one is beyond Latin-1, such as in a host's name in Unicode.
      const bytes = text.length * (/[^\0-\xff]/.test(text) ? 2 : 1);
      entries.set(key, expansion, { size: key.length + bytes + overhead });
    },
  };
}

/** Answers kept for each way to follow, and characters of the longest one with its URL: 20 MiB together. */
const maxAnswers = 5_000;
const maxAnswerSize = 2_048;

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
    const hit = options.again ? undefined : cache.get(key);
    if (hit && isFresh(hit)) return { ...hit, cached: true };
    const answer = await fetchHop(url, options);
    const { location, refresh, title, setCookies } = answer;
    const length = [key, location, refresh?.url, title].reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (length <= maxAnswerSize && !setCookies) cache.set(key, answer);
    return answer;
  };
}
