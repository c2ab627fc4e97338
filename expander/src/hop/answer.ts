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

/** Node reads header bytes as Latin-1; percent-encoded they are the UTF-8 that servers mean. */
export function percentEncoded(location: string | undefined): string | null {
  return (
    location?.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`) ?? null
  );
}
