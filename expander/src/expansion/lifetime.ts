import type { IncomingHttpHeaders } from 'node:http';
import type { Expansion, Hop, HopResponse } from './expansion.ts';

const minute = 60;
const day = 24 * 60 * minute;

/** Minimum lifetime in seconds. The maximum is a day. */
const minLifetime = 30;

/** Statuses that are usually temporary, like 5xx. */
const temporary = new Set([408, 425, 429]);

/** Returns the expiry time of a response (milliseconds since 1970). The status determines the default. */
export function responseFreshUntil(status: number, headers: IncomingHttpHeaders, now = Date.now()): number {
  const stated = status < 400 ? statedLifetime(headers, now) : null;
  const seconds = stated ?? lifetimeOf(status);
  return now + Math.min(Math.max(seconds, minLifetime), day) * 1_000;
}

function lifetimeOf(status: number): number {
  if (status === 301 || status === 308) return day;
  return isTemporary(status) ? minLifetime : 10 * minute;
}

function isTemporary(status: number | null): boolean {
  return status !== null && ((status >= 500 && status < 600) || temporary.has(status));
}

/** Marks a response whose page was truncated or slow, and limits its lifetime to 30 s. */
export function asInterrupted(response: HopResponse): HopResponse {
  const freshUntil = Math.min(response.freshUntil, Date.now() + minLifetime * 1_000);
  return { ...response, incomplete: true, interrupted: true, freshUntil };
}

/** Whether the last hop of a chain is a failure that is probably temporary. */
export function endsInFailure(hop: Pick<Hop, 'status' | 'interrupted'> | undefined): boolean {
  return hop !== undefined && (isTemporary(hop.status) || hop.interrupted === true);
}

/**
 * Returns the lifetime of an expansion without an error. The lifetime ends when the first redirect expires, or the only
 * response if there is no redirect. A final response with an error status can shorten the lifetime. A chain that ends without
 * a page, such as a loop, lives as long as a temporary failure, because the website may repair it. Stale-while-revalidate lasts
 * as long as the lifetime, but at most 10 minutes. A temporary failure is never served stale.
 */
export function expansionLifetime(
  { hops, redirectCount, end }: Pick<Expansion, 'hops' | 'redirectCount' | 'end'>,
  now = Date.now(),
) {
  const last = hops.at(-1);
  const hasPage = end.code === 'final';
  const hasFailed = endsInFailure(last) || !hasPage;
  const isCounted = hasFailed || (last?.status ?? 200) >= 400;
  const redirects = redirectCount + hops.filter(({ kind }) => kind === 'hsts').length;
  const counted = isCounted ? hops : hops.slice(0, Math.max(redirects, 1));
  const longest = now + (hasPage ? day : minLifetime) * 1_000;
  const freshUntil = last ? Math.min(longest, ...counted.map((hop) => hop.freshUntil)) : now;
  const staleness = hasFailed ? 0 : Math.min(freshUntil - now, 10 * minute * 1_000);
  return { freshUntil, staleUntil: freshUntil + staleness };
}

const sharedMaxAge = /(?<![\w-])s-maxage="?(-?\d+)/i;
const anyMaxAge = /(?<![\w-])max-age="?(-?\d+)/i;

/** Returns the lifetime that the headers specify, in seconds (RFC 9111 section 4.2.1), or null. */
function statedLifetime(headers: IncomingHttpHeaders, now: number): number | null {
  const { 'cache-control': cacheControl = '', expires } = headers;
  if (cacheControl === '' && expires === undefined) return null;
  // A shared cache must not store a private response.
  if (/(?<![\w-])(?:no-(?:store|cache)|private)(?![\w-])/i.test(cacheControl)) return 0;
  const maxAge = sharedMaxAge.exec(cacheControl) ?? anyMaxAge.exec(cacheControl);
  if (maxAge) return Number(maxAge[1]) - (Number(headers.age) || 0);
  if (expires === undefined) return null;
  // An invalid date, such as "0", means expired.
  return (Date.parse(expires) - (Date.parse(headers.date ?? '') || now)) / 1_000 || 0;
}
