import { LRUCache } from 'lru-cache';
import {
  cacheKey,
  doubtTime,
  type ExpandOptions,
  type Expansion,
  type FetchHop,
  type FollowRedirects,
  type HopResponse,
  isVoid,
} from '../expansion/expansion.ts';
import { endsInFailure } from '../expansion/lifetime.ts';
import { type Target, withoutFragment } from '../expansion/target.ts';
import { createCounts } from '../expansion/turn.ts';

/** Keeps expansions for all replicas. */
export interface SharedCache {
  /** The expansion of `key`, which may have expired; null also if the cache is down or the entry is invalid. */
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

/** Concurrent refreshes of one client. With the 48 places of its lists, they leave room at an origin for single requests. */
const maxRefreshes = 4;

/** Entries whose failed refresh is remembered. */
const maxFailedRefreshes = 10_000;

/**
 * Serves hits from `memory`, before any layer that shares or limits work. A stale result is returned at once and refreshed for
 * the next request. A failed refresh is retried only once such a failure would have expired.
 */
export function serveFromMemory(memory: MemoryTier, lookups?: LookupCounter) {
  return (followRedirects: FollowRedirects): FollowRedirects => {
    const nextRefresh = new LRUCache<string, number>({ max: maxFailedRefreshes });
    const refreshesOf = createCounts();
    const refresh = async (key: string, target: Target, options: ExpandOptions) => {
      const { client = '', follow, maxRedirect } = options;
      if (refreshesOf.count(client) >= maxRefreshes) return;
      refreshesOf.add(client, 1);
      nextRefresh.set(key, Number.POSITIVE_INFINITY);
      const refreshed = followRedirects(target, { client, follow, maxRedirect, refresh: true });
      const expansion = await refreshed.catch(() => null);
      refreshesOf.add(client, -1);
      if (expansion && hasFailed(expansion)) nextRefresh.set(key, expansion.freshUntil);
      else nextRefresh.delete(key);
    };
    return async (target, options) => {
      const key = cacheKey(target, options);
      const old = options.again ? null : memory.get(key);
      const hit = old && isUsable(old) ? old : null;
      lookups?.inc({ tier: 'memory', result: hit ? 'hit' : 'miss' });
      const expansion = hit ? replay(hit, options) : await followRedirects(target, options);
      const isStale = expansion.cached && !isFresh(expansion);
      if (isStale && (nextRefresh.get(key) ?? 0) <= Date.now()) refresh(key, target, options);
      return expansion;
    };
  };
}

/**
 * Keeps expansions in `memory`, for `serveFromMemory`, and in `redis`, which it asks first. A failure never replaces a result
 * that can still be served.
 */
export function cacheExpansions(memory: MemoryTier, redis?: SharedCache) {
  const write = (key: string, { sources, ...expansion }: Expansion) => {
    if (expansion.staleUntil <= Date.now()) return;
    const text = JSON.stringify(expansion);
    if (text.length > maxEntrySize) return;
    memory.set(key, { ...asCached(expansion), ...(sources && { sources }) }, text);
    const share = () => redis?.set(key, text, expansion.staleUntil - Date.now());
    // Other processes would not learn of unsolicited bytes on its connection.
    if (sources) setTimeout(() => isVoid({ sources }) || share(), doubtTime).unref();
    else share();
  };

  return (followRedirects: FollowRedirects): FollowRedirects =>
    async (target, options) => {
      const key = cacheKey(target, options);
      const entry = await redis?.get(key);
      // If another replica has refreshed the entry, Redis has it: one request to the website serves all replicas.
      const isServed = (old: Expansion) => (options.refresh ? isFresh(old) && isSound(old) : isUsable(old));
      if (entry && !options.again && isServed(entry.expansion)) {
        memory.set(key, entry.expansion, entry.text);
        return replay(entry.expansion, options);
      }
      const expansion = await followRedirects(target, options);
      const hadSound = [memory.get(key), entry?.expansion].some((old) => old && isSound(old));
      if (!hasFailed(expansion) || !hadSound) write(key, expansion);
      return expansion;
    };
}

/** Replays the hops of a cached expansion. */
function replay(expansion: Expansion, { onHop }: ExpandOptions): Expansion {
  for (const hop of expansion.hops) onHop?.(hop);
  return expansion;
}

/** `expansion`, marked as cached with all its hops. */
export function asCached(expansion: Expansion): Expansion {
  return { ...expansion, cached: true, hops: expansion.hops.map((hop) => ({ ...hop, cached: true })) };
}

function isUsable(expansion: Expansion): boolean {
  return expansion.staleUntil > Date.now() && !isVoid(expansion);
}

function isFresh(expansion: Expansion): boolean {
  return expansion.freshUntil > Date.now();
}

function isSound(expansion: Expansion): boolean {
  return isUsable(expansion) && !hasFailed(expansion);
}

/** Whether something failed, so that the next result may differ. */
function hasFailed({ error, hops }: Expansion): boolean {
  return error !== null || endsInFailure(hops.at(-1));
}

/** Bytes of all entries: as objects they take hardly more than as text. */
const maxSize = 32 * 1024 * 1024;

/** Bytes that an entry takes in addition to its text and key. */
const overhead = 200;

export type MemoryTier = ReturnType<typeof memoryTier>;

/** Keeps expansions, marked as cached, in this process, and evicts the least recently used. */
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

/** Cached responses, and characters of the longest one with its URL: 20 MiB together. */
const maxAnswers = 10_000;
const maxAnswerSize = 2_048;

/**
 * Caches the responses of single hops, so that two short URLs into one chain share its hops. A response to a cookie, or with
 * one, is for one chain only.
 *
 * @returns a layer; all functions that it wraps share the cache.
 */
export function cacheHops() {
  const cache = new LRUCache<string, HopResponse>({ max: maxAnswers });
  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const requested = withoutFragment(url);
      const key = `${options.follow} ${requested}`;
      const old = options.cookie ? undefined : cache.get(key);
      const hit = old && old.freshUntil > Date.now() && !old.source?.hasStrayed ? old : undefined;
      if (hit && !options.refresh && !options.again) return { ...hit, cached: true };
      const answer = await fetchHop(url, options);
      // If the client left or a deadline passed, the response may be cut short, whatever the layers below made of it.
      options.signal?.throwIfAborted();
      if (options.cookie || (hit && endsInFailure(answer))) return answer;
      const { location, refresh, title, setCookies } = answer;
      const length = [requested, location, refresh?.url, title].reduce(
        (sum, text) => sum + (text?.length ?? 0),
        0,
      );
      if (length <= maxAnswerSize && !setCookies) cache.set(key, answer);
      return answer;
    };
}
