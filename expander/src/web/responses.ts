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

/** Tells clients how long they may cache an expansion. */
export function cacheControl(freshUntil: number): { 'Cache-Control': string } {
  const seconds = Math.round((freshUntil - Date.now()) / 1_000);
  return seconds > 0 ? { 'Cache-Control': `public, max-age=${seconds}` } : noStore;
}

/** A response with its Content-Length, which the response to HEAD then has too. */
export function textResponse(
  body: string,
  init: { status?: number; headers: Record<string, string> },
): Response {
  const headers = { ...init.headers, 'Content-Length': String(Buffer.byteLength(body)) };
  return new Response(body, { ...init, headers });
}
