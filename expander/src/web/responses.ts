import { annotate } from '@longhand/shared/observe.ts';
import type { LazyResponse } from '@longhand/shared/routes.ts';
import type { Context } from 'hono';
import type { ErrorCode, ExpansionError, RateState } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { omit } from '../expansion/omit.ts';
import { asciiJson } from './ascii-json.ts';
import { verdictOf } from './judge.ts';

/** Headers of every response. By default, a document may not load, run, embed or submit anything. */
export const baseHeaders = {
  'X-Power-By': 'Longhand',
  'Content-Type': 'text/html',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export const noStore = { 'Cache-Control': 'no-store' };

/** Headers of API responses. Pages of any origin may load these responses as scripts. */
export const apiHeaders = { ...baseHeaders, 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** Turns off nginx buffering. */
export const unbuffered = { 'X-Accel-Buffering': 'no' };

/** Allows pages of any origin to read the response (CORS). */
export const openToAll = { 'Access-Control-Allow-Origin': '*' };

/** Allows pages of any origin to send JSON and keys, for a day (Fetch standard, "CORS-preflight request"). */
export const preflightHeaders = {
  ...openToAll,
  'Access-Control-Allow-Methods': 'GET, HEAD, POST',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Max-Age': '86400',
};

/** Maximum time in nginx's cache (s). Kept short, because nginx does not reduce `max-age` as a response ages. */
const edgeLifetime = 30;

/** How long caches may serve a stale response (s) during a revalidation or while no expander responds. */
const staleness = 'stale-while-revalidate=30, stale-if-error=600';

/**
 * Returns headers that limit how long clients and nginx may cache an expansion. Their order matters to nginx.
 *
 * @param mayBeStale whether caches may serve the expansion after its lifetime.
 */
export function cacheControl(freshUntil: number, mayBeStale: boolean): Record<string, string> {
  const seconds = Math.round((freshUntil - Date.now()) / 1_000);
  if (seconds <= 0) return noStore;
  // nginx compares whole seconds, so it may cache a response for a second longer.
  const atTheEdge = Math.min(seconds, edgeLifetime) - 1;
  const caching = `public, max-age=${seconds}${mayBeStale ? `, ${staleness}` : ''}`;
  return { 'Cache-Control': caching, 'X-Accel-Expires': `${atTheEdge}` };
}

/** The HTTP status of each error. */
export const errorStatuses: Record<ErrorCode, number> = {
  invalid_url: 400,
  invalid_callback: 400,
  invalid_argument: 400,
  unsupported_scheme: 400,
  unknown_key: 401,
  target_refused: 403,
  rate_limited: 429,
  aborted: 499,
  request_failed: 502,
  overloaded: 503,
  timeout: 504,
};

const errorHeaders: Partial<Record<ErrorCode, Record<string, string>>> = {
  overloaded: { 'Retry-After': '1' },
  unknown_key: { 'WWW-Authenticate': 'Bearer' },
};

/** Returns the status and headers for `error`, and adds its code to the log line. */
export function reportError(c: Context, error: Expansion['error']) {
  if (!error) return { status: 200, headers: {} };
  const { code, rate } = error;
  annotate(c, { error: code });
  return { status: errorStatuses[code], headers: rate ? rateFields(rate) : (errorHeaders[code] ?? {}) };
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers-10. */
const rateFields = ({ count, period, wait }: RateState) => ({
  'Retry-After': `${wait}`,
  'RateLimit-Policy': `"expansions";q=${count};w=${period}`,
  RateLimit: `"expansions";r=0;t=${wait}`,
});

/** Responds with the error message. @param cors headers that allow other origins to read it. */
export function errorResponse(
  c: Context,
  { code, message, facts }: ExpansionError,
  cors: Record<string, string>,
): LazyResponse {
  const { status, headers } = reportError(c, { code, message, ...facts });
  return { status, headers: { ...apiHeaders, ...cors, ...noStore, ...headers }, body: () => message };
}

/** A response format of the API. */
export interface ResponseFormat {
  headers: Record<string, string>;
  write(expansion: Expansion, query: Record<'u' | 'cb' | 'err' | 'follow', string>): string;
  /** The status of every response. By default, it depends on the error. */
  status?: number;
  /** The status if `u` is empty; 200 by default. */
  emptyStatus?: number;
}

/** JSONP responses are text/html. Browsers run them only without `nosniff`. */
const jsonpHeaders = omit(apiHeaders, new Set(['X-Content-Type-Options'] as const));

/** Fields that only caches need. */
const hopLifetime = new Set(['freshUntil'] as const);
const expansionLifetime = new Set(['freshUntil', 'staleUntil', 'sources'] as const);

export const formats = {
  /** The long URL or the error message. */
  text: {
    headers: apiHeaders,
    write: (expansion) => failureOf(expansion)?.message ?? expansion.longUrl ?? '',
  },
  /** The long URL or the error in a JSON object. */
  json: {
    headers: apiHeaders,
    write(expansion, { u }) {
      const { longUrl, redirectCount } = expansion;
      const result = failureOf(expansion) ?? { url: u, longUrl, redirects: redirectCount };
      return asciiJson({ ...result, ...verdictOf(expansion) });
    },
    emptyStatus: 400,
  },
  /** Calls `cb` with the long URL. */
  jsonp: {
    headers: jsonpHeaders,
    write: ({ longUrl }, { cb }) => callbackCall(cb, longUrl ?? ''),
  },
  /** Calls `err` with the error. Browsers run a script only if its status is 2xx. */
  jsonpError: {
    headers: jsonpHeaders,
    write: (expansion, { err }) => callbackCall(err, failureOf(expansion)),
    status: 200,
  },
  /** Every hop. Only this format has the JSON content type. */
  chain: {
    headers: { ...apiHeaders, 'Content-Type': 'application/json' },
    write(expansion, { u, follow }) {
      const { hops, ...rest } = omit(expansion, expansionLifetime);
      const shown = hops.map((hop) => omit(hop, hopLifetime));
      return asciiJson({ url: u, follow, hops: shown, ...rest, ...verdictOf(expansion) });
    },
    emptyStatus: 400,
  },
} satisfies Record<string, ResponseFormat>;

/** Returns the error of an expansion, or undefined if the expansion has a long URL. */
function failureOf({ end, error }: Expansion): { code: string; message: string } | undefined {
  if (error) return { code: error.code, message: error.message };
  return end.code === 'empty' ? { code: 'empty', message: '`u` argument required.' } : undefined;
}

/** Returns JavaScript code that calls `name`. The JSON contains no `</`, U+2028 or U+2029. */
export function callbackCall(name: string, value: unknown): string {
  return `${name}(${asciiJson(value)})`;
}
