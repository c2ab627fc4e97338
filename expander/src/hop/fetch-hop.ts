import type { LookupFunction } from 'node:net';
import type { Connect } from '@longhand/shared/connector.ts';
import { ExpansionError, unknownName } from '../expansion/errors.ts';
import { type Answer, cdnId, type FetchHop } from '../expansion/expansion.ts';
import { answerFreshUntil } from '../expansion/lifetime.ts';
import type { Guard } from '../guard/public-address.ts';
import type { Lookup } from '../guard/shared-lookup.ts';
import type { Request, Response } from './exchange.ts';
import { httpClient } from './http-client.ts';
import { maxHeadSize } from './response-head.ts';

/** Requests hops by HEAD. */
export function fetchHead(request: Request): FetchHop {
  return async (url, { signal }) => answerOf(await request(url, { method: 'HEAD', signal }), 'HEAD');
}

/** What the head of a response says. */
export function answerOf(response: Response, method: Answer['method']): Answer {
  const { status, headers, addressFamily, source } = response;
  const location = percentEncoded(headers.location);
  return {
    status,
    location,
    method,
    addressFamily,
    freshUntil: answerFreshUntil(status, headers),
    cached: false,
    ...(source && { source }),
  };
}

/**
 * Header bytes are read as Latin-1; percent-encoded they are the UTF-8 that servers mean. The result is a copy: as long
 * as a slice of a head lives, V8 keeps the whole head in memory, and answers are cached.
 */
export function percentEncoded(location: string | undefined): string | null {
  if (location === undefined) return null;
  // V8 copies what was joined before it cuts it. By way of a buffer the copy costs three times as much.
  const copy = ` ${location}`.slice(1);
  return copy.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Some websites answer scripts differently from browsers, or by language. */
const preferences = ['Accept', 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language', 'en'];

export interface RequestSettings {
  guard: Guard;
  lookup: Lookup;
  userAgent: string;
}

/**
 * Requests over kept-alive connections, which `open` opens with the look-up that it is given. They only ever lead to
 * addresses that `guard` accepts: it checks an address in the URL before the request, the addresses of a name as they are
 * handed to the socket.
 */
export function guardedRequest(settings: RequestSettings, open: (lookup: LookupFunction) => Connect) {
  const { guard, lookup, userAgent } = settings;
  const headers = ['User-Agent', userAgent, 'CDN-Loop', cdnId, ...preferences];
  const client = httpClient(open(guardedLookup(lookup, guard)), headers);

  /** @throws ExpansionError */
  const request: Request = async (url, options) => {
    guard.checkUrl(url);
    try {
      return await client.request(url, options);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw error instanceof ExpansionError ? error : requestFailed(url, error);
    }
  };
  return { request, close: client.close };
}

/** Hands a socket the addresses of a name only if the guard accepts every one of them. */
function guardedLookup(lookup: Lookup, guard: Guard): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? noAddress(hostname), []);
      try {
        guard.checkAddresses(hostname, addresses);
      } catch (refusal) {
        return callback(refusal as Error, []);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

const noEncryption = 'did not set up an encrypted connection.';

const reasons: Record<string, string> = {
  ECONNREFUSED: 'refused the connection.',
  ECONNRESET: 'closed the connection without an answer.',
  EPIPE: 'closed the connection without an answer.',
  EAI_AGAIN: 'could not be looked up: the name server did not answer.',
  EHOSTUNREACH: 'cannot be reached.',
  ENETUNREACH: 'cannot be reached.',
  ETIMEDOUT: 'did not accept the connection in time.',
  ERR_NOT_HTTP: 'answered with something that is not HTTP.',
  ERR_TWO_LOCATIONS: 'answered with two different locations.',
  ERR_HEADERS_TOO_LONG: `answered with more than ${maxHeadSize} bytes of headers.`,
};

/** X.509 faults as Node names them; others say that they cannot be verified, such as an incomplete chain. */
const certificateFaults: Record<string, string> = {
  CERT_HAS_EXPIRED: 'has a certificate that has expired.',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has the certificate of another name.',
};

function requestFailed(url: URL, cause: unknown): ExpansionError {
  const { code = '' } = cause as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return unknownName(url.hostname, cause);
  const failed = (reason: string, facts = {}) =>
    new ExpansionError('request_failed', `${url.host} ${reason}`, { cause, ...facts });
  const reason = reasons[code];
  if (reason) return failed(reason);
  // OpenSSL's own errors, such as where there is no TLS, say nothing about a certificate.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return failed(noEncryption);
  if (!/CERT|SIGNATURE|CRL|^INVALID|^PATH_LENGTH|^HOSTNAME/.test(code))
    return failed('could not be reached.');
  const fault = certificateFaults[code] ?? 'has a certificate that cannot be verified.';
  return failed(fault, { reason: 'certificate', detail: code });
}
