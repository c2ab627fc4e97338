import { LRUCache } from 'lru-cache';
import type { Answer, ExpandOptions, Expansion, FetchHop, Unshorten } from '../expansion/expansion.ts';
import { endsInFailure } from '../expansion/lifetime.ts';
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

/** Milliseconds for which an expired result still serves while it is refreshed. */
const maxStale = 60 * 60 * 1_000;

/** Characters of the largest entry. */
const maxEntrySize = 64 * 1024;

/** Entries whose failed refresh is remembered. */
const maxFailedRefreshes = 10_000;

/** What an expansion depends on. */
export function cacheKey({ text }: Target, { follow, maxRedirect }: ExpandOptions): string {
  return `${follow} ${maxRedirect} ${text}`;
}

/** Answers fresh expansions from `memory` before any layer that shares or limits work: a hit causes none. */
export function answerFromMemory(memory: MemoryTier, lookups?: LookupCounter) {
  return (unshorten: Unshorten): Unshorten =>
    async (target, options) => {
      const hit = options.again ? null : memory.get(cacheKey(target, options));
      if (!hit || !isFresh(hit)) return unshorten(target, options);
      lookups?.inc({ tier: 'memory', result: 'hit' });
      for (const hop of hit.hops) options.onHop?.(hop);
      return hit;
    };
}

/**
 * Caches expansions in `memory` and then in `redis`. A cache that fails is a miss. A stale result is returned at once and
 * refreshed for the next request; if that fails, it is tried again only once such a failure would have expired.
 */
export function cacheExpansions(memory: MemoryTier, redis?: SharedCache, lookups?: LookupCounter) {
  return (unshorten: Unshorten): Unshorten => {
    const nextRefresh = new LRUCache<string, number>({ max: maxFailedRefreshes });

    const fromMemory = (key: string) => {
      const hit = memory.get(key);
      const isHit = hit !== null && isUsable(hit);
      lookups?.inc({ tier: 'memory', result: isHit ? 'hit' : 'miss' });
      return isHit ? hit : null;
    };
    /** Null for a miss, undefined for a failure. */
    const fromRedis = async (key: string, accepted: (expansion: Expansion) => boolean) => {
      try {
        const entry = await redis?.get(key);
        if (!entry || !accepted(entry.expansion)) return null;
        memory.set(key, entry.expansion, entry.text);
        return entry.expansion;
      } catch {
        return undefined;
      }
    };
    const write = (key: string, expansion: Expansion) => {
      const milliseconds = expiresAt(expansion) - Date.now();
      if (milliseconds <= 0) return;
      const text = JSON.stringify(expansion);
      if (text.length > maxEntrySize) return;
      memory.set(key, asCached(expansion), text);
      redis?.set(key, text, milliseconds);
    };
    const refresh = async (key: string, target: Target, { signal, onHop, ...options }: ExpandOptions) => {
      nextRefresh.set(key, Number.POSITIVE_INFINITY);
      // If another replica has refreshed the entry, Redis has it: one request to the website serves all replicas.
      const refreshed = (other: Expansion) => isFresh(other) && !hasFailed(other);
      if (await fromRedis(key, refreshed)) return nextRefresh.delete(key);
      const expansion = await unshorten(target, { ...options, refresh: true }).catch(() => null);
      if (expansion && hasFailed(expansion)) return nextRefresh.set(key, expansion.freshUntil);
      nextRefresh.delete(key);
      if (expansion) write(key, expansion);
    };

    return async (target, options) => {
      const key = cacheKey(target, options);
      let hit = options.again ? null : fromMemory(key);
      if (redis && !hit && !options.again) {
        const found = await fromRedis(key, isUsable);
        lookups?.inc({ tier: 'redis', result: found ? 'hit' : found === null ? 'miss' : 'failed' });
        hit = found ?? null;
      }
      if (!hit) {
        const expansion = await unshorten(target, options);
        write(key, expansion);
        return expansion;
      }
      if (!isFresh(hit) && (nextRefresh.get(key) ?? 0) <= Date.now()) refresh(key, target, options);
      for (const hop of hit.hops) options.onHop?.(hop);
      return hit;
    };
  };
}

/** `expansion`, marked as cached with all its hops. */
export function asCached(expansion: Expansion): Expansion {
  return { ...expansion, cached: true, hops: expansion.hops.map((hop) => ({ ...hop, cached: true })) };
}

function isUsable(expansion: Expansion): boolean {
  return expiresAt(expansion) > Date.now();
}

function isFresh({ freshUntil }: Expansion): boolean {
  return freshUntil > Date.now();
}

/** Whether it may be another result soon, because something failed. */
function hasFailed({ error, hops }: Expansion): boolean {
  return error !== null || endsInFailure(hops.at(-1));
}

/** When an entry expires (milliseconds since 1970): a failure at the end of its lifetime, a result an hour later. */
function expiresAt(expansion: Expansion): number {
  return hasFailed(expansion) ? expansion.freshUntil : expansion.freshUntil + maxStale;
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
    /** The expansion of `key`, which may have expired, shared by all callers. */
    get: (key: string) => entries.get(key) ?? null,
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
    const hit = options.refresh || options.again ? undefined : cache.get(key);
    if (hit && hit.freshUntil > Date.now()) return { ...hit, cached: true };
    const answer = await fetchHop(url, options);
    const { location, refresh, title, setCookies } = answer;
    const length = [key, location, refresh?.url, title].reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (length <= maxAnswerSize && !setCookies) cache.set(key, answer);
    return answer;
  };
}
