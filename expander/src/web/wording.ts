import { STATUS_CODES } from 'node:http';
import type { Expansion } from '../expansion/expansion.ts';
import { registrableDomain } from '../expansion/host.ts';

/** Words for common statuses. Other statuses keep their standard reason phrase. */
const statusWords: Record<number, string> = {
  200: 'OK',
  302: 'moved temporarily',
  303: 'see another page',
  307: 'moved temporarily',
  308: 'moved permanently',
  401: 'sign-in required',
  403: 'access denied',
  405: 'method not allowed',
  410: 'removed',
  429: 'too many requests',
  500: 'server error',
  502: 'server error',
  503: 'temporarily unavailable',
  504: 'the website took too long',
};

/** Describes the last page's status in a sentence. */
export function lastStatus({ hops, redirectCount }: Expansion): string {
  const status = hops.at(-1)?.status ?? 200;
  return `The ${redirectCount === 0 ? '' : 'last '}page returned ${status}, ${statusInWords(status)}.`;
}

export function statusInWords(status: number): string {
  return statusWords[status] ?? STATUS_CODES[status]?.toLowerCase() ?? 'unknown status';
}

/** Returns a summary such as `2 redirects followed in 143 ms.`, or an empty string. */
export function summary({ hops, redirectCount, end, error, cached }: Expansion): string {
  const total = duration(hops.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  const time = total && `${total}${cached ? ' (cached)' : ''}`;
  if (redirectCount === 0) return time && end.code === 'final' ? `It took ${time}.` : '';
  if (end.code === 'loop' || end.code === 'max_redirects') return '';
  const redirects = `${redirectCount} redirect${redirectCount > 1 ? 's' : ''} followed`;
  return error
    ? `${redirects} before that${time && `, in ${time}`}.`
    : `${redirects}${time && ` in ${time}`}.`;
}

/** Maximum sites to name. More sites are summarized as a count. */
const maxNamed = 3;

/** Codes of chains that ended with a final response. */
const arrived = new Set(['final', 'no_location', 'malformed_location', 'unsupported_scheme']);

/**
 * Describes the chain in one sentence, such as `The link leaves bit.ly, passes through t.co and ends at example.com.` A site is a
 * registrable domain.
 *
 * @returns undefined for a loop or a chain without redirects.
 */
export function journey({ hops, longUrl, redirectCount, end }: Expansion): string | undefined {
  const [first] = hops;
  if (!first || !longUrl || redirectCount === 0 || end.code === 'loop') return undefined;
  const from = registrableDomain(new URL(first.url));
  const to = registrableDomain(new URL(longUrl));
  const passed = new Set(hops.map(({ url }) => registrableDomain(new URL(url))));
  passed.delete(from);
  passed.delete(to);
  if (from === to && passed.size === 0) return `The link stays at ${from}.`;
  const others = passed.size > maxNamed ? `${passed.size} other sites` : list([...passed]);
  const last = from === to ? `returns to ${from}` : `${arrived.has(end.code) ? 'ends at' : 'leads to'} ${to}`;
  const steps = [`leaves ${from}`, ...(others ? [`passes through ${others}`] : []), last];
  return `The link ${(others.includes(' and ') ? withComma : withoutComma).format(steps)}.`;
}

/** Formats milliseconds. Returns an empty string below 1 ms. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return '';
  return milliseconds < 999.5 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

const withComma = new Intl.ListFormat('en-US');
const withoutComma = new Intl.ListFormat('en-GB');

/** Formats a list such as `a, b and c`. */
export const list = (parts: readonly string[]) => withoutComma.format(parts);

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats a size such as `48 MB`. */
export function sizeInWords(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${Number((bytes / 1_000 ** power).toPrecision(3))} ${units[power]}`;
}
