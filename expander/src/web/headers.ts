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

/** On every response of the API. */
export const apiHeaders = {
  ...baseHeaders,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** On JSONP responses: scripts in all but their type, which browsers would not run with `nosniff`. */
const { 'X-Content-Type-Options': _, ...jsonpHeaders } = apiHeaders;

export { jsonpHeaders };

/** nginx passes each piece on at once. */
export const unbuffered = { 'X-Accel-Buffering': 'no' };

/** Tells clients how long they may cache an expansion. */
export function cacheControl(freshUntil: number): { 'Cache-Control': string } {
  const seconds = Math.round((freshUntil - Date.now()) / 1_000);
  return seconds > 0 ? { 'Cache-Control': `public, max-age=${seconds}` } : noStore;
}
