import { LRUCache } from 'lru-cache';
import type { Counter } from 'prom-client';
import {
  cacheKey,
  createCounts,
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

export interface SharedCache {
  /** Returns the expansion for `key`, which may have expired; null on a miss, an invalid entry or a failure. */
  get(key: string): Promise<{ expansion: Expansion; text: string } | null>;
  /** @param text an expansion as JSON. */
  set(key: string, text: string, milliseconds: number): void;
}

/** Maximum length of an entry, in characters. */
const maxEntrySize = 64 * 1024;

/** Maximum concurrent refreshes per client. A client's refreshes and 48 list hops leave 4 of its 56 slots at an origin. */
const maxRefreshes = 4;

/** Maximum failed refreshes to remember. */
const maxFailedRefreshes = 10_000;

/**
 * A layer that serves expansions from `memory`. Stale entries are served at once and refreshed in the background. A
 * failed refresh is retried once the failure has expired.
 */
export function serveFromMemory(memory: MemoryTier, lookups?: Pick<Counter, 'inc'>) {
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
 * A layer that serves expansions from `redis`, and stores new expansions there and in `memory`. A failure never replaces a
 * usable result.
 */
export function cacheExpansions(memory: MemoryTier, redis?: SharedCache) {
  const write = (key: string, expansion: Expansion) => {
    if (expansion.staleUntil <= Date.now()) return;
    const { sources, ...shared } = expansion;
    const text = JSON.stringify(shared);
    if (text.length > maxEntrySize) return;
    memory.set(key, asCached(expansion), text);
    const share = () => isVoid(expansion) || redis?.set(key, text, expansion.staleUntil - Date.now());
    // Unsolicited bytes may still invalidate the result, and only this process would notice them.
    if (sources) setTimeout(share, doubtTime).unref();
    else share();
  };

  return (followRedirects: FollowRedirects): FollowRedirects =>
    async (target, options) => {
      const key = cacheKey(target, options);
      const entry = await redis?.get(key);
      // Another replica may have refreshed the entry.
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

function replay(expansion: Expansion, { onHop }: ExpandOptions): Expansion {
  for (const hop of expansion.hops) onHop?.(hop);
  return expansion;
}

/** Marks an expansion and its hops as cached. */
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

/** Whether a retry may succeed. */
function hasFailed({ error, hops }: Expansion): boolean {
  return error !== null || endsInFailure(hops.at(-1));
}

/** Maximum bytes of all entries. An entry takes about as much memory as its text. */
const maxSize = 32 * 1024 * 1024;

/** Estimated overhead per entry, in bytes. */
const overhead = 200;

export type MemoryTier = ReturnType<typeof memoryTier>;

/** Creates an LRU cache in this process. `set` expects an expansion that is marked as cached. */
export function memoryTier() {
  const entries = new LRUCache<string, Expansion>({ maxSize });
  return {
    /** Returns the expansion for `key`, which may have expired. */
    get: (key: string) => entries.get(key) ?? null,
    set(key: string, expansion: Expansion, text: string) {
      // V8 needs two bytes per character if any character is beyond Latin-1.
      const bytes = text.length * (/[^\0-\xff]/.test(text) ? 2 : 1);
      entries.set(key, expansion, { size: key.length + bytes + overhead });
    },
  };
}

/** Maximum number of cached responses (20 MiB in total). */
const maxResponses = 10_000;
/** Maximum length of a response plus its URL, in characters. */
const maxResponseSize = 2_048;

/**
 * Caches the responses of single hops for all chains. Does not cache responses that depend on or set
 * a cookie.
 *
 * @returns a layer whose wrapped functions share one cache.
 */
export function cacheHops() {
  const cache = new LRUCache<string, HopResponse>({ max: maxResponses });
  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const requested = withoutFragment(url);
      const key = `${options.follow} ${requested}`;
      const old = options.cookie ? undefined : cache.get(key);
      const hit = old && old.freshUntil > Date.now() && !old.source?.hasStrayed ? old : undefined;
      if (hit && !options.refresh && !options.again) return { ...hit, cached: true };
      const response = await fetchHop(url, options);
      // The response may be incomplete after an abort.
      options.signal?.throwIfAborted();
      const { location, refresh, title, setCookies } = response;
      const { length } = [requested, location, refresh?.url, title].join('');
      const isKept = !options.cookie && !setCookies && length <= maxResponseSize;
      if (isKept && !(hit && endsInFailure(response))) cache.set(key, response);
      return response;
    };
}
