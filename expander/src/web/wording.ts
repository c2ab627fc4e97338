import { STATUS_CODES } from 'node:http';
import type { Expansion, Hop } from '../expansion/expansion.ts';

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
  999: 'browsers only',
};

/** What the status of the last page means to a visitor. */
const errorSentences: Record<number, string> = {
  401: 'The website asks visitors to sign in.',
  402: 'The website asks visitors to pay.',
  403: 'The website does not let our check in.',
  404: 'The page does not exist. It may have been moved or deleted.',
  410: 'The website has deleted the page.',
  429: 'The website has too many visitors at the moment.',
  451: 'The website may not show the page for legal reasons.',
  503: 'The website is out of order or has too many visitors at the moment.',
  504: 'The website took too long to make the page.',
  999: 'The website only responds to browsers.',
};

/** Describes the last page's status in a sentence; null for a page that loads, and for an empty one. */
export function errorStatus({ status }: Hop): string | null {
  if (status === null || status < 400) return null;
  const sentence = errorSentences[status];
  if (sentence) return sentence;
  return status < 500 ? 'The website did not accept our request.' : 'The website is out of order.';
}

export function statusInWords(status: number): string {
  return statusWords[status] ?? STATUS_CODES[status]?.toLowerCase() ?? 'an error without a common meaning';
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

/** Keeps a number and its unit on one line. */
const noBreak = '\u00a0';

/** Formats milliseconds. Returns an empty string below 1 ms. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return '';
  return milliseconds < 999.5
    ? `${Math.round(milliseconds)}${noBreak}ms`
    : `${(milliseconds / 1_000).toFixed(1)}${noBreak}s`;
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats a size such as `48 MB`. */
export function sizeInWords(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${Number((bytes / 1_000 ** power).toPrecision(3))}${noBreak}${units[power]}`;
}
