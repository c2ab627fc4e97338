import type { Expansion, Hop, TraceOptions } from '../expansion/expansion.ts';

/** The outcome of a cache lookup. */
export type CacheResult = 'hit' | 'miss' | 'failed';

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
  return expansion.cached ? expansion : { ...expansion, cached: true, hops: cachedHops(expansion) };
}

/** Tells the hops of a remembered expansion. */
export function replay(expansion: Expansion, { onHop }: TraceOptions): Expansion {
  if (onHop) expansion.hops.forEach(onHop);
  return expansion;
}

/** An expansion as text: a line of JSON for what everybody asks, and one for its hops, which few want to see. */
export function toText(expansion: Expansion): string {
  const { longUrl, redirectCount, end, error, freshUntil } = expansion;
  const answer = JSON.stringify({ longUrl, redirectCount, end, error, freshUntil });
  return `${answer}\n${JSON.stringify(cachedHops(expansion))}`;
}

/** @throws SyntaxError or TypeError when the text was not written by `toText`, or has been cut. */
export function fromText(text: string): Expansion {
  const line = text.indexOf('\n');
  if (!text.endsWith(']')) throw new SyntaxError('The hops are not complete.');
  const answer = JSON.parse(text.slice(0, line));
  if (!answer.end.code || !answer.freshUntil) throw new TypeError('The answer is not complete.');
  return new Remembered(answer, text.slice(line + 1));
}

/** How much room an expansion takes, in characters: those of its URLs and some for the rest. */
export function sizeOf(expansion: Expansion): number {
  if (expansion instanceof Remembered) return expansion.size;
  return expansion.hops.reduce(
    (sum, { url, location }) => sum + url.length + (location?.length ?? 0) + 200,
    200,
  );
}

function cachedHops({ hops }: Expansion): Hop[] {
  return hops.map((hop) => ({ ...hop, cached: true }));
}

/** An expansion whose hops stay text until somebody asks for them: parsed, they are most of its time and room. */
class Remembered implements Expansion {
  readonly longUrl: Expansion['longUrl'];
  readonly redirectCount: number;
  readonly end: Expansion['end'];
  readonly error: Expansion['error'];
  readonly cached = true;
  readonly freshUntil: number;
  readonly #hops: string;

  constructor({ longUrl, redirectCount, end, error, freshUntil }: Omit<Expansion, 'hops'>, hops: string) {
    this.longUrl = longUrl;
    this.redirectCount = redirectCount;
    this.end = end;
    this.error = error;
    this.freshUntil = freshUntil;
    this.#hops = hops;
  }

  get hops(): Hop[] {
    return JSON.parse(this.#hops);
  }

  get size(): number {
    return this.#hops.length + 400;
  }
}
