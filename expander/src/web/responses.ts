import type { MiddlewareHandler } from 'hono';

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
