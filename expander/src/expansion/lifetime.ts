import type { IncomingHttpHeaders } from 'node:http';
import { type ExpansionError, errorLifetimes } from './errors.ts';
import type { Hop, HopResponse } from './expansion.ts';

const minute = 60;
const day = 24 * 60 * minute;

/** Limits in seconds for lifetimes that a host states: long enough for the cache to be useful, at most a day. */
const bounds = { min: 30, max: day };

const permanent = new Set([301, 308]);
/** The host is overloaded or broken, and and will soon respond differently; so is any status from 500 to 599. */
const temporary = new Set([408, 425, 429]);

/** When a response expires (milliseconds since 1970): as its headers state, else by its status. */
export function responseFreshUntil(status: number, headers: IncomingHttpHeaders, now = Date.now()): number {
  const stated = status < 400 ? statedLifetime(headers, now) : null;
  const seconds =
    stated !== null
      ? Math.min(Math.max(stated, bounds.min), bounds.max)
      : permanent.has(status)
        ? day
        : isTemporary(status)
          ? bounds.min
          : 10 * minute;
  return now + seconds * 1_000;
}

function isTemporary(status: number | null): boolean {
  return status !== null && ((status >= 500 && status < 600) || temporary.has(status));
}

/** `response` of a page that broke off or was slow: for at most 30 s. */
export function asInterrupted(response: HopResponse, now = Date.now()): HopResponse {
  const freshUntil = Math.min(response.freshUntil, now + bounds.min * 1_000);
  return { ...response, incomplete: true, interrupted: true, freshUntil };
}

/** Whether a chain ended at `hop` because of a failure that may be over soon. */
export function endsInFailure(hop: Pick<Hop, 'status' | 'interrupted'> | undefined): boolean {
  return hop !== undefined && (isTemporary(hop.status) || hop.interrupted === true);
}

/** When a failure expires: after 30 s at most. */
export function failureFreshUntil({ code }: ExpansionError, now = Date.now()): number {
  return now + errorLifetimes[code] * 1_000;
}

/**
 * When an expansion expires that did not fail: with the first of its redirects, or with its only response. The response at the
 * end counts as well if it is not a page that works.
 */
export function expansionFreshUntil(
  { hops, redirectCount }: { hops: Hop[]; redirectCount: number },
  now = Date.now(),
): number {
  if (hops.length === 0) return now;
  const last = hops.at(-1);
  const isCounted = (last?.status ?? 200) >= 400 || endsInFailure(last);
  const redirects = redirectCount + hops.filter(({ kind }) => kind === 'hsts').length;
  const counted = isCounted ? hops : hops.slice(0, Math.max(redirects, 1));
  return Math.min(...counted.map(({ freshUntil }) => freshUntil));
}

/**
 * Until when an expansion may be shown while it is refreshed: for as long as it was fresh, at most 10 minutes. A failure is
 * never shown then.
 */
export function expansionStaleUntil(freshUntil: number, hasFailed: boolean, now = Date.now()): number {
  return hasFailed ? freshUntil : freshUntil + Math.min(freshUntil - now, 10 * minute * 1_000);
}

const sharedMaxAge = /(?<![\w-])s-maxage="?(-?\d+)/i;
const anyMaxAge = /(?<![\w-])max-age="?(-?\d+)/i;

/** The lifetime in seconds that headers state (RFC 9111 section 4.2.1); null if they state none. */
function statedLifetime(headers: IncomingHttpHeaders, now: number): number | null {
  const { 'cache-control': cacheControl = '', expires } = headers;
  if (cacheControl === '' && expires === undefined) return null;
  // To us, a cache for everybody, a response for one person may not be stored.
  if (/(?<![\w-])(?:no-(?:store|cache)|private)(?![\w-])/i.test(cacheControl)) return 0;
  const maxAge = sharedMaxAge.exec(cacheControl) ?? anyMaxAge.exec(cacheControl);
  if (maxAge) return Number(maxAge[1]) - (Number(headers.age) || 0);
  if (expires === undefined) return null;
  // An invalid date, such as "0", means already expired.
  return (Date.parse(expires) - (Date.parse(headers.date ?? '') || now)) / 1_000 || 0;
}
