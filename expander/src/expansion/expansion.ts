import type { ErrorCode, ExpansionError } from './errors.ts';
import { expansionFreshUntil, failureFreshUntil } from './lifetime.ts';
import type { Target } from './target.ts';

/** Which redirects are followed: 301 and 302, or 303, 307 and 308 as well. */
export type Follow = 'default' | 'all';

/** A host's response to one request. */
export interface Answer {
  status: number;
  /** The `Location` header, its bytes beyond ASCII percent-encoded; null where there is none. */
  location: string | null;
  /** `GET` where the host refused `HEAD`. */
  method: 'HEAD' | 'GET';
  addressFamily: 4 | 6 | null;
  /** Milliseconds since 1970 until which a cache may keep this. */
  freshUntil: number;
  /** Whether the answer comes from a cache. */
  cached: boolean;
}

export interface FetchHopOptions {
  follow: Follow;
  signal?: AbortSignal | undefined;
  /** Skips what is cached. */
  refresh?: boolean | undefined;
}

/**
 * Requests the headers of one URL.
 *
 * @throws ExpansionError
 */
export type FetchHop = (url: URL, options: FetchHopOptions) => Promise<Answer>;

/** One request of a chain and its answer. */
export interface Hop extends Answer {
  url: string;
  milliseconds: number;
  tls: boolean;
  /** Whether it leads from `https` to `http`. */
  downgrade: boolean;
}

/** Why a chain ended: a code for programs and a sentence for people. */
export interface End {
  code:
    | 'final'
    | 'empty'
    | 'max_redirects'
    | 'loop'
    | 'no_location'
    | 'malformed_location'
    | 'unsupported_scheme'
    | ErrorCode;
  message: string;
  /** Where the last redirect points, as text, if that cannot be followed. */
  target?: string;
}

export interface Expansion {
  hops: Hop[];
  /** The URL finally reached; null for an empty input. */
  longUrl: string | null;
  redirectCount: number;
  end: End;
  error: { code: ErrorCode; message: string } | null;
  cached: boolean;
  /** Milliseconds since 1970 until which a cache may keep this. */
  freshUntil: number;
}

export interface ExpandOptions extends FetchHopOptions {
  /** Whose request it is, for limits; without it only the total limit applies. */
  client?: string | undefined;
  /** Redirects followed before the chain stops at the next location. */
  maxRedirect: number;
  /** Called with each hop as it is made. */
  onHop?: ((hop: Hop) => void) | undefined;
}

/** Expands one URL; a failure is an expansion with an `error`. Caches and limits wrap this one signature. */
export type ExpandUrl = (target: Target, options: ExpandOptions) => Promise<Expansion>;

/** The expansion that came to its end at `longUrl`. */
export function endedExpansion(
  longUrl: string | null,
  end: End,
  hops: Hop[] = [],
  redirectCount = 0,
): Expansion {
  const freshUntil = expansionFreshUntil({ hops, redirectCount });
  return { hops, longUrl, redirectCount, end, error: null, cached: false, freshUntil };
}

/** The expansion that failed at `longUrl`. */
export function failedExpansion(
  longUrl: string,
  failure: ExpansionError,
  hops: Hop[] = [],
  redirectCount = 0,
): Expansion {
  const error = { code: failure.code, message: failure.message };
  const freshUntil = failureFreshUntil(failure);
  return { hops, longUrl, redirectCount, end: error, error, cached: false, freshUntil };
}
