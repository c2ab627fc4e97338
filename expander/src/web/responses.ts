import { annotate } from '@longhand/shared/observe.ts';
import type { Context, MiddlewareHandler } from 'hono';
import type { ErrorCode, RateState } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';

/** For every response: by default, documents load, run, embed and submit nothing. */
export const baseHeaders = {
  'X-Power-By': 'Longhand',
  'Content-Type': 'text/html',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export const noStore = { 'Cache-Control': 'no-store' };

/** For the API: pages of other origins may load it as a script. */
export const apiHeaders = { ...baseHeaders, 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** Makes nginx pass on each piece at once. */
export const unbuffered = { 'X-Accel-Buffering': 'no' };

/** Lets pages of any origin read the response. */
export const openToAll = { 'Access-Control-Allow-Origin': '*' };

/** The same for every response of a path, errors too. */
export const allowAnyOrigin: MiddlewareHandler = async (c, next) => {
  await next();
  c.res.headers.set('Access-Control-Allow-Origin', '*');
};

/** Seconds that nginx caches an expansion: the `Cache-Control` that it repeats is out of date by no more. */
const edgeLifetime = 30;

/** For caches: seconds past the lifetime, during a refresh and while no expander responds. */
const staleness = 'stale-while-revalidate=30, stale-if-error=600';

/**
 * Tells clients and nginx how long to cache an expansion. nginx reads the headers in this order.
 *
 * @param mayBeStale whether caches may serve it past its lifetime.
 */
export function cacheControl(freshUntil: number, mayBeStale: boolean): Record<string, string> {
  const seconds = Math.round((freshUntil - Date.now()) / 1_000);
  if (seconds <= 0) return noStore;
  // nginx compares whole seconds, so it may cache a response for a second longer.
  const atTheEdge = Math.min(seconds, edgeLifetime) - 1;
  const caching = `public, max-age=${seconds}${mayBeStale ? `, ${staleness}` : ''}`;
  return { 'Cache-Control': caching, 'X-Accel-Expires': `${atTheEdge}` };
}

/** A response with Content-Length, for HEAD too. */
export function textResponse(
  body: string,
  init: { status?: number; headers: Record<string, string> },
): Response {
  const headers = { ...init.headers, 'Content-Length': String(Buffer.byteLength(body)) };
  return new Response(body, { ...init, headers });
}

type Failure = Expansion['error'];

/** The HTTP status that reports each error. */
export const errorStatuses: Record<ErrorCode, number> = {
  invalid_url: 400,
  invalid_callback: 400,
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

/** The status and headers that report `error`. Annotates the log. */
export function reportError(c: Context, error: Failure): { status: number; headers: Record<string, string> } {
  if (!error) return { status: 200, headers: {} };
  const { code, rate } = error;
  annotate(c, { error: code });
  return { status: errorStatuses[code], headers: rate ? rateFields(rate) : (errorHeaders[code] ?? {}) };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-10. */
const rateFields = ({ count, period, wait }: RateState) => ({
  'Retry-After': `${wait}`,
  'RateLimit-Policy': `"expansions";q=${count};w=${period}`,
  RateLimit: `"expansions";r=0;t=${wait}`,
});

/** A response with the error's sentence. */
export function errorResponse(c: Context, error: NonNullable<Failure>): Response {
  const { status, headers } = reportError(c, error);
  return textResponse(error.message, { status, headers: { ...apiHeaders, ...noStore, ...headers } });
}
