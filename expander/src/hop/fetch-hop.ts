import type { FetchHop, HopResponse } from '../expansion/expansion.ts';
import { responseFreshUntil } from '../expansion/lifetime.ts';
import type { Request, Response } from './exchange.ts';

/** Requests hops by HEAD. */
export function fetchHead(request: Request): FetchHop {
  return async (url, { signal }) => hopResponse(await request(url, { method: 'HEAD', signal }), 'HEAD');
}

/** What the head of a response says. */
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
 * Header bytes are read as Latin-1; percent-encoded they are the UTF-8 that servers mean. The result is a copy: as long
 * as a slice of a head lives, V8 keeps the whole head in memory, and answers are cached.
 */
export function percentEncoded(location: string | undefined): string | null {
  if (location === undefined) return null;
  // V8 copies what was joined before it cuts it. By way of a buffer the copy costs three times as much.
  const copy = ` ${location}`.slice(1);
  return copy.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
