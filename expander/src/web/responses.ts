import { annotate } from '@longhand/shared/observe.ts';
import type { Context, MiddlewareHandler } from 'hono';
import type { ErrorCode, RateState } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';

/** On every response: a document that may load, run, embed and submit nothing, unless the response says more. */
export const baseHeaders = {
  'X-Power-By': 'Longhand',
  'Content-Type': 'text/html',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export const noStore = { 'Cache-Control': 'no-store' };

/** On responses of the API, which pages of other origins may load as scripts. */
export const apiHeaders = { ...baseHeaders, 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** On JSONP responses: scripts in all but their type, which browsers would not run with `nosniff`. */
const { 'X-Content-Type-Options': _, ...jsonpHeaders } = apiHeaders;

export { jsonpHeaders };

/** nginx passes each piece on at once. */
export const unbuffered = { 'X-Accel-Buffering': 'no' };

/** Lets pages of any origin read the response. */
export const allowAnyOrigin: MiddlewareHandler = async (c, next) => {
  await next();
  c.res.headers.set('Access-Control-Allow-Origin', '*');
};

/** Seconds that nginx keeps an expansion: clients learn of the rest from `Cache-Control`, which then is off by no more. */
const edgeLifetime = 30;

/** Seconds past the edge's lifetime: while the edge asks anew, and while it reaches no expander. */
const staleness = 'stale-while-revalidate=30, stale-if-error=600';

/** Tells clients, and the nginx in front, how long they may cache an expansion. nginx reads the headers in this order. */
export function cacheControl(freshUntil: number): Record<string, string> {
  const seconds = Math.round((freshUntil - Date.now()) / 1_000);
  if (seconds <= 0) return noStore;
  // nginx compares whole seconds, so it may keep a response a second longer than it is told.
  const atTheEdge = Math.min(seconds, edgeLifetime) - 1;
  return { 'Cache-Control': `public, max-age=${seconds}`, 'X-Accel-Expires': `${atTheEdge}` };
}

/** On an expansion for which no website was asked (RFC 9211). */
export const cacheHit = { 'Cache-Status': 'Longhand; hit' };

/** Lets caches give an expansion that succeeded past its lifetime. */
export const allowStale: MiddlewareHandler = async (c, next) => {
  await next();
  const caching = c.res.headers.get('Cache-Control');
  if (c.res.status === 200 && caching?.startsWith('public')) {
    c.res.headers.set('Cache-Control', `${caching}, ${staleness}`);
  }
};

/** A response with its Content-Length, which the response to HEAD then has too. */
export function textResponse(
  body: string,
  init: { status?: number; headers: Record<string, string> },
): Response {
  const headers = { ...init.headers, 'Content-Length': String(Buffer.byteLength(body)) };
  return new Response(body, { ...init, headers });
}

const statuses: Record<ErrorCode, number> = {
  invalid_url: 400,
  invalid_callback: 400,
  unsupported_scheme: 400,
  target_refused: 403,
  request_failed: 502,
  timeout: 504,
  rate_limited: 429,
  overloaded: 503,
  // Only the log shows it: the client has left.
  aborted: 499,
};

type Failure = Expansion['error'];

/** The status of a response that reports `error`, its headers, and the log's annotation. */
export function reportError(c: Context, error: Failure): { status: number; headers: Record<string, string> } {
  if (!error) return { status: 200, headers: {} };
  annotate(c, { error: error.code });
  const headers = error.rate ? rateFields(error.rate) : error.code === 'overloaded' ? trySoon : {};
  return { status: statuses[error.code], headers };
}

/** Seconds after which an overloaded expander is worth another try. */
const trySoon = { 'Retry-After': '1' };

/** The fields of draft-ietf-httpapi-ratelimit-headers-10. */
const rateFields = ({ count, period, wait }: RateState) => ({
  'Retry-After': `${wait}`,
  'RateLimit-Policy': `"expansions";q=${count};w=${period}`,
  RateLimit: `"expansions";r=0;t=${wait}`,
});

/** The response of the API to a failure: its sentence. */
export function errorResponse(
  c: Context,
  error: NonNullable<Failure>,
  caching: Record<string, string> = noStore,
): Response {
  const { status, headers } = reportError(c, error);
  return textResponse(error.message, { status, headers: { ...apiHeaders, ...caching, ...headers } });
}

/** Answers every method that the path does not have. */
export function methodNotAllowed(allowed: string): () => Response {
  return () =>
    textResponse('Method Not Allowed', { status: 405, headers: { ...baseHeaders, Allow: allowed } });
}
