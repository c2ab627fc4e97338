import type { LookupFunction } from 'node:net';
import { httpAgent, httpsAgent } from '@longhand/shared/agent.ts';
import type { Ask } from '../expansion/expansion.ts';
import { ExpansionError } from '../expansion/expansion-error.ts';
import { answerFreshUntil } from '../expansion/lifetime.ts';
import type { Guard } from '../guard/public-address.ts';
import type { Lookup } from '../guard/shared-lookup.ts';
import { httpClient } from './http-client.ts';

/** Bytes of response headers. */
const maxHeaderSize = 16 * 1024;

export interface HeadRequestOptions {
  guard: Guard;
  lookup: Lookup;
  userAgent: string;
}

/**
 * Asks by HEAD, or by GET cut off after the headers, over kept-alive connections that are only ever opened to addresses that `guard` passed:
 * an address in the URL is judged before it is asked, a name's addresses as they are handed to the socket.
 */
export function headRequest({ guard, lookup, userAgent }: HeadRequestOptions): { ask: Ask; close(): void } {
  const guarded = guardedLookup(lookup, guard);
  const client = httpClient({
    agents: { 'http:': httpAgent({ lookup: guarded }), 'https:': httpsAgent({ lookup: guarded }) },
    maxHeaderSize,
  });
  const headers = ['User-Agent', userAgent];

  const ask: Ask = async (url, { signal, ...options }) => {
    const method = options.method ?? 'HEAD';
    guard.checkUrl(url);
    try {
      const { status, headers: said, addressFamily } = await client.head(url, { method, headers, signal });
      return {
        status,
        location: percentEncoded(said.location),
        method,
        addressFamily,
        freshUntil: answerFreshUntil(status, said),
        cached: false,
      };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error instanceof ExpansionError ? error : failed(url, error);
    }
  };
  return { ask, close: client.close };
}

/** Hands a socket the addresses of a name only when every one of them may be contacted. */
function guardedLookup(lookup: Lookup, guard: Guard): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? unknownName(hostname), []);
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

function unknownName(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

/** Node reads header bytes as Latin-1; percent-encoded they are the UTF-8 that servers mean. */
export function percentEncoded(location: string | undefined): string | null {
  return (
    location?.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`) ?? null
  );
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'refused the connection.',
  ECONNRESET: 'closed the connection without an answer.',
  EPIPE: 'closed the connection without an answer.',
  ENOTFOUND: 'is not a name that is known.',
  EAI_AGAIN: 'could not be looked up; the name server did not answer.',
  EHOSTUNREACH: 'cannot be reached.',
  ENETUNREACH: 'cannot be reached.',
  ETIMEDOUT: 'did not answer the attempt to connect.',
  UND_ERR_SOCKET: 'closed the connection without an answer.',
  UND_ERR_HEADERS_OVERFLOW: `answered with more than ${maxHeaderSize} bytes of headers.`,
};

function failed(url: URL, cause: unknown): ExpansionError {
  const { name, code = '' } = cause as NodeJS.ErrnoException;
  const reason =
    reasons[code] ??
    (name === 'HTTPParserError'
      ? 'answered with something that is not HTTP.'
      : /CERT|TLS|SSL|ERR_OSSL/.test(code) || code === 'EPROTO'
        ? `has no valid certificate for a secure connection (${code}).`
        : 'could not be asked.');
  return new ExpansionError('request_failed', `${url.host} ${reason}`, { cause });
}
