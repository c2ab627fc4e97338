import type { LookupFunction } from 'node:net';
import { timed } from '@longhand/shared/durations.ts';
import type { Turns } from '@longhand/shared/turns.ts';
import type { Histogram } from 'prom-client';
import { ExpansionError, incompleteChain, unknownName } from '../expansion/errors.ts';
import { cdnId, clientsOf, type FetchHop, type Follow, type HopResponse } from '../expansion/expansion.ts';
import { responseFreshUntil } from '../expansion/lifetime.ts';
import type { Lookup } from '../guard/lookup.ts';
import type { Guard } from '../guard/public-address.ts';
import { connector } from './connect.ts';
import type { Request, Response } from './exchange.ts';
import { httpClient } from './http-client.ts';
import { maxHeadSize } from './response-head.ts';

/**
 * Creates a `FetchHop` for both `follow` modes.
 *
 * @param durations times each hop.
 */
export function timedHops(
  modes: Record<Follow, FetchHop>,
  durations: Pick<Histogram, 'startTimer'>,
): FetchHop {
  return (url, request) => timed(durations, {}, () => modes[request.chain.follow](url, request), statusClass);
}

/** Labels a hop with its status class. A label with the exact status could create a billion time series. */
const statusClass = ({ status }: HopResponse) => ({
  status_class: status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other',
});

/**
 * A layer that starts each hop in a turn of the clients that wait for it. A TLS handshake takes a millisecond, and responses that
 * arrive together would all begin the next hops at once.
 */
export const inTurns =
  (turns: Turns) =>
  (fetchHop: FetchHop): FetchHop =>
  async (url, request) => {
    const { chain } = request;
    const waiting = turns(() => clientsOf(chain), chain.signal);
    // A free turn lasts only until the next microtask.
    if (waiting) await waiting;
    return fetchHop(url, request);
  };

/** Creates a `FetchHop` that sends HEAD requests. */
export function fetchHead(request: Request): FetchHop {
  return async (url, { chain: { signal } }) =>
    hopResponse(await request(url, { method: 'HEAD', signal }), 'HEAD');
}

/** Converts the response fields that both `follow` modes use. */
export function hopResponse(response: Response, method: HopResponse['method']): HopResponse {
  const { status, headers, addressFamily, source } = response;
  const location = percentEncoded(headers.location);
  return {
    status,
    location,
    method,
    addressFamily,
    freshUntil: responseFreshUntil(status, headers),
    cached: false,
    ...(source && { source }),
  };
}

/**
 * Percent-encodes non-ASCII bytes, which are usually UTF-8. Returns a copy, because a cached slice would keep the whole head in
 * memory.
 */
export function percentEncoded(location: string | undefined): string | null {
  if (location === undefined) return null;
  // V8 copies a concatenated string before slicing it. Copying with a `Buffer` would be three times slower.
  const copy = ` ${location}`.slice(1);
  return copy.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Creates a `Request` that only connects to addresses that `guard` accepts. `checkUrls` must have checked the URL. Each request
 * takes these steps:
 *
 * 1. The client ([http-client.ts](http-client.ts)) chooses the protocol: HTTP/1.1, or what the server selects over TLS.
 * 2. `connect` resolves the name and opens a connection if no other can carry the request. `guard` checks the resolved addresses.
 * 3. Over HTTP/1.1, an idle connection ([connection.ts](connection.ts)) carries an exchange ([exchange.ts](exchange.ts)). Over
 *    HTTP/2, a session ([http2-session.ts](http2-session.ts)) carries many ([http2-exchange.ts](http2-exchange.ts)).
 * 4. The exchange parses the head ([response-head.ts](response-head.ts)), and reads the start of the body.
 * 5. The client may retry the request once. Then it returns the response.
 */
export function guardedRequest(
  { guard, lookup, userAgent }: { guard: Guard; lookup: Lookup; userAgent: string },
  connect = connector,
) {
  // Some websites send different responses depending on these headers.
  const preferences = ['Accept', 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language', 'en'];
  const headers = ['User-Agent', userAgent, 'CDN-Loop', cdnId, ...preferences];
  const client = httpClient(connect(guardedLookup(lookup, guard)), headers);

  /** @throws ExpansionError */
  const request: Request = async (url, options) => {
    try {
      return await client.request(url, options);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw error instanceof ExpansionError ? error : requestFailed(url, error);
    }
  };
  return { request, close: client.close };
}

/** Adapts `lookup` for sockets. The lookup fails unless the guard accepts every address. */
function guardedLookup(lookup: Lookup, guard: Guard): LookupFunction {
  const checkedLookup = async (hostname: string) => {
    const addresses = await lookup(hostname);
    if (addresses.length === 0) throw unknownName(hostname);
    guard.checkAddresses(hostname, addresses);
    return addresses;
  };
  return (hostname, { all }, callback) => {
    checkedLookup(hostname).then(
      (addresses) =>
        all ? callback(null, addresses) : callback(null, addresses[0]?.address ?? '', addresses[0]?.family),
      (error) => callback(error, []),
    );
  };
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'refused the connection.',
  ECONNRESET: 'closed the connection without a response.',
  EPIPE: 'closed the connection without a response.',
  EAI_AGAIN: 'could not be resolved: the name server did not respond.',
  EHOSTUNREACH: 'cannot be reached.',
  ENETUNREACH: 'cannot be reached.',
  ETIMEDOUT: 'did not accept the connection in time.',
  ERR_NOT_HTTP: 'did not send a valid HTTP response.',
  ERR_AMBIGUOUS: 'sent a header twice with different values.',
  ERR_HEADERS_TOO_LONG: `sent more than ${maxHeadSize} bytes of headers.`,
};

/** Messages for specific certificate errors, by Node's code. */
const certificateErrors: Record<string, string> = {
  CERT_HAS_EXPIRED: 'has an expired certificate.',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name.',
  [incompleteChain]: 'sends an incomplete certificate chain; browsers usually repair that.',
};

function requestFailed(url: URL, cause: unknown): ExpansionError {
  const { code = '' } = cause as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return unknownName(url.hostname, cause);
  const failed = (reason: string, facts = {}) =>
    new ExpansionError('request_failed', `${url.host} ${reason}`, { cause, ...facts });
  const reason = reasons[code];
  if (reason) return failed(reason);
  // TLS protocol errors, unlike the certificate errors below.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return failed('failed to set up an encrypted connection.');
  if (!/CERT|SIGNATURE|CRL|^INVALID|^PATH_LENGTH|^HOSTNAME/.test(code))
    return failed('could not be reached.');
  const certificateError = certificateErrors[code] ?? 'has a certificate that cannot be verified.';
  return failed(certificateError, { reason: 'certificate', detail: code });
}
