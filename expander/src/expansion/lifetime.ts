import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode, ExpansionError } from './errors.ts';
import type { Expansion } from './expansion.ts';

const minute = 60;
const day = 24 * 60 * minute;

/** Seconds for what a host says itself: never so short that the cache is of no use, never longer than a day. */
const bounds = { min: 30, max: day };

const permanent = new Set([301, 308]);
/** The host is busy or unwell, and will answer differently soon. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Seconds for a failure, by its code. What is our own or the client's doing says nothing about the URL. */
const failures: Record<ErrorCode, number> = {
  invalid_url: 30,
  invalid_callback: 30,
  unsupported_scheme: 30,
  target_refused: 30,
  request_failed: 30,
  timeout: 10,
  overloaded: 0,
  aborted: 0,
};

/** Seconds for requests that failed in a way that may be over soon, by the code of the system's error. */
const passingFailures: Record<string, number> = {
  ECONNRESET: 10,
  EPIPE: 10,
  ETIMEDOUT: 10,
  EAI_AGAIN: 10,
};

/** Until when an answer may be remembered (milliseconds since 1970): as its headers say, else by its status. */
export function answerFreshUntil(status: number, headers: IncomingHttpHeaders, now = Date.now()): number {
  const said = status < 400 ? saidLifetime(headers, now) : null;
  const seconds =
    said !== null
      ? Math.min(Math.max(said, bounds.min), bounds.max)
      : permanent.has(status)
        ? day
        : passing.has(status)
          ? bounds.min
          : 10 * minute;
  return now + seconds * 1_000;
}

/** Until when a failure may be remembered: 30 s at the most, less where it may be over sooner. */
export function failureFreshUntil({ code, cause }: ExpansionError, now = Date.now()): number {
  const passing = passingFailures[(cause as NodeJS.ErrnoException | undefined)?.code ?? ''];
  return now + (passing ?? failures[code]) * 1_000;
}

/** Until when an expansion that did not fail may be remembered: as long as every redirect in it, or its only answer. */
export function expansionFreshUntil(
  { hops, redirectCount }: Pick<Expansion, 'hops' | 'redirectCount'>,
  now = Date.now(),
): number {
  if (hops.length === 0) return now;
  const redirects = hops.slice(0, Math.max(redirectCount, 1));
  return Math.min(...redirects.map(({ freshUntil }) => freshUntil));
}

/** The lifetime in seconds that headers state (RFC 9111 section 4.2.1); null where they state none. */
function saidLifetime(headers: IncomingHttpHeaders, now: number): number | null {
  const cacheControl = headers['cache-control'] ?? '';
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const maxAge =
    /\bs-maxage="?(\d{1,9})\b/i.exec(cacheControl) ?? /\bmax-age="?(\d{1,9})\b/i.exec(cacheControl);
  if (maxAge) return Number(maxAge[1]) - (Number(headers.age) || 0);
  if (headers.expires === undefined) return null;
  // An invalid date, "0" above all, means already past.
  return (Date.parse(headers.expires) - (Date.parse(headers.date ?? '') || now)) / 1_000 || 0;
}
