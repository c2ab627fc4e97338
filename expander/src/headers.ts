/** On every response: a document that may load, run, embed and submit nothing, unless the response says more. */
export const inert = {
  'X-Power-By': 'Longhand',
  'Content-Type': 'text/html',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
