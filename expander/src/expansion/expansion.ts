import type { ErrorCode } from './expansion-error.ts';

/** Which redirects are followed: 301 and 302, or 303, 307 and 308 as well. */
export type Follow = 'default' | 'all';

/** What a host answered to one request. */
export interface Answer {
  status: number;
  /** The `Location` header, its bytes beyond ASCII percent-encoded; null where there is none. */
  location: string | null;
  /** `GET` where `HEAD` had been turned down. */
  method: 'HEAD' | 'GET';
  addressFamily: 4 | 6 | null;
  /** Milliseconds since 1970 until which this may be remembered. */
  freshUntil: number;
  /** Whether the answer was remembered rather than asked for. */
  cached: boolean;
}

export interface AskOptions {
  follow: Follow;
  /** `HEAD` unless said otherwise. */
  method?: 'GET';
  signal?: AbortSignal | undefined;
  /** Passes over what is remembered. */
  refresh?: boolean | undefined;
}

/**
 * Asks one URL for its headers.
 *
 * @throws ExpansionError
 */
export type Ask = (url: URL, options: AskOptions) => Promise<Answer>;

/** One request of a chain and what it was answered. */
export interface Hop extends Answer {
  url: string;
  milliseconds: number;
  tls: boolean;
  /** Whether it leads from `https` to `http`. */
  downgrade: boolean;
}

/** Why a chain ended, in a word for programs and a sentence for people. */
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
  /** Where the last redirect points, as text, when that is nothing to follow. */
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
  /** Milliseconds since 1970 until which this may be remembered. */
  freshUntil: number;
}

export interface TraceOptions {
  follow: Follow;
  /** Redirects followed before the chain stops at the next location. */
  maxRedirect: number;
  /** Aborted, the expansion stops: nobody waits for it any more. */
  signal?: AbortSignal | undefined;
  /** Who has such a signal: asked for it when there is something to wait for, as a request makes it only then. */
  client?: { readonly signal: AbortSignal } | undefined;
  /** Told each hop as it is made. */
  onHop?: ((hop: Hop) => void) | undefined;
  /** Passes over what is remembered. */
  refresh?: boolean | undefined;
}

/**
 * Expands one URL; never rejects. What is known is answered at once, without a promise. Everything round an expansion
 * is a decorator of this one signature.
 */
export type Trace = (url: string, options: TraceOptions) => Expansion | Promise<Expansion>;
