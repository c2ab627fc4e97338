import { LRUCache } from 'lru-cache';
import type { Counter } from 'prom-client';
import {
  cacheKey,
  createCounts,
  doubtTime,
  type ExpandOptions,
  type Expansion,
  type FollowRedirects,
  isVoid,
} from '../expansion/expansion.ts';
import { endsInFailure } from '../expansion/lifetime.ts';
import type { Target } from '../expansion/target.ts';

export interface SharedCache {
  /** Returns the expansion for `key`, which may have expired; null on a miss, an invalid entry or a failure. */
  get(key: string): Promise<{ expansion: Expansion; text: string } | null>;
  /** @param text an expansion as JSON. */
  set(key: string, text: string, milliseconds: number): void;
}

/** Maximum length of an entry, in characters. */
const maxEntrySize = 64 * 1024;

/** Maximum concurrent revalidations per client. Of a client's 56 slots at an origin, these and 48 list hops leave 4 free. */
const maxRevalidations = 4;

/** Maximum failed revalidations to remember. */
const maxFailedRevalidations = 10_000;

/**
 * A layer that serves expansions from memory, or else from `redis`, and stores new expansions in both. Stale entries are
 * served at once and revalidated in the background. A failure never replaces a usable result.
 *
 * @param singleFlight a layer that shares an expansion between identical concurrent requests.
 */
export function cacheExpansions(
  singleFlight: (load: FollowRedirects) => FollowRedirects,
  redis?: SharedCache,
  lookups?: Pick<Counter, 'inc'>,
) {
  return (followRedirects: FollowRedirects): FollowRedirects => {
    const memory = memoryTier();
    const load = singleFlight(async (target, options) => {
      const key = cacheKey(target, options);
      const entry = await redis?.get(key);
      // Another replica may have revalidated the entry.
      const isServed = (old: Expansion) =>
        options.revalidates ? isFresh(old) && isSound(old) : isUsable(old);
      if (entry && !options.again && isServed(entry.expansion)) {
        memory.set(key, entry.expansion, entry.text);
        return replay(entry.expansion, options);
      }
      const expansion = await followRedirects(target, options);
      const hadSound = [memory.get(key), entry?.expansion].some((old) => old && isSound(old));
      if (!hasFailed(expansion) || !hadSound) store(key, expansion, memory, redis);
      return expansion;
    });
    const revalidate = backgroundRevalidation(load);

    return async (target, options) => {
      const key = cacheKey(target, options);
      const old = options.again ? null : memory.get(key);
      const hit = old && isUsable(old) ? old : null;
      lookups?.inc({ tier: 'memory', result: hit ? 'hit' : 'miss' });
      const expansion = hit ? replay(hit, options) : await load(target, options);
      if (expansion.cached && !isFresh(expansion)) revalidate(key, target, options);
      return expansion;
    };
  };
}

function store(key: string, expansion: Expansion, memory: MemoryTier, redis?: SharedCache) {
  if (expansion.staleUntil <= Date.now()) return;
  const { sources, ...shared } = expansion;
  const text = JSON.stringify(shared);
  if (text.length > maxEntrySize) return;
  memory.set(key, asCached(expansion), text);
  const share = () => isVoid(expansion) || redis?.set(key, text, expansion.staleUntil - Date.now());
  // Unsolicited bytes may still invalidate the result, and only this process would notice them.
  if (sources) setTimeout(share, doubtTime).unref();
  else share();
}

/** Creates a function that revalidates a stale entry. It tries again after a failure has expired. */
function backgroundRevalidation(load: FollowRedirects) {
  const nextTry = new LRUCache<string, number>({ max: maxFailedRevalidations });
  const revalidationsOf = createCounts();
  return async (key: string, target: Target, { client = '', follow, maxRedirect }: ExpandOptions) => {
    if ((nextTry.get(key) ?? 0) > Date.now() || revalidationsOf.count(client) >= maxRevalidations) return;
    revalidationsOf.add(client, 1);
    nextTry.set(key, Number.POSITIVE_INFINITY);
    const expansion = await load(target, { client, follow, maxRedirect, revalidates: true }).catch(
      () => null,
    );
    revalidationsOf.add(client, -1);
    if (expansion && hasFailed(expansion)) nextTry.set(key, expansion.freshUntil);
    else nextTry.delete(key);
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
