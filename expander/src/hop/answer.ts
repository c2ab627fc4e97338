import type { Answer } from '../expansion/expansion.ts';
import { answerFreshUntil } from '../expansion/lifetime.ts';
import type { ResponseHead } from './exchange.ts';

/** What the head of a response says. */
export function answerOf(head: ResponseHead, method: Answer['method']): Answer {
  const { status, headers, addressFamily } = head;
  const location = percentEncoded(headers.location);
  return {
    status,
    location,
    method,
    addressFamily,
    freshUntil: answerFreshUntil(status, headers),
    cached: false,
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
