import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorKind, noSuchWebsite } from '../expansion/errors.ts';
import type { End, Expansion } from '../expansion/expansion.ts';
import { parseUrl } from '../expansion/parse-url.ts';
import { maxLength } from '../expansion/target.ts';

/** The heading of the answer, by the end of a chain that did not fail. */
const headlines: Record<Exclude<End['code'], ErrorCode> | 'unsupported_scheme', string> = {
  final: 'It leads to',
  empty: 'Where does it lead?',
  max_redirects: 'It redirects too many times',
  loop: 'The redirects form a loop',
  no_location: 'The link is broken',
  malformed_location: 'The link is broken',
  unsupported_scheme: 'It does not lead to a web page',
};

/** Why the last URL of a chain has no answer. */
const reasons: Partial<Record<End['code'], string>> = {
  max_redirects: 'Not visited: this is beyond the limit of redirects.',
  loop: 'Visited before: the loop starts again here.',
  malformed_location: 'Not a URL.',
  unsupported_scheme: 'Not a web page, so it was not visited.',
};

/** Words for common statuses; the others keep those of the registry. */
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

export function headline(expansion: Expansion): string {
  const { end, error } = expansion;
  if (isTooLong(expansion)) return 'This URL is too long';
  if (error) return errorKind(error.code).title;
  return end.code === 'final' ? pageHeadline(expansion) : headlines[end.code as keyof typeof headlines];
}

/** The heading for a page. */
function pageHeadline(expansion: Expansion): string {
  const status = expansion.hops.at(-1)?.status ?? 200;
  const fault = status < 500 ? 'does not exist' : 'is not working just now';
  if (expansion.redirectCount === 0)
    return works(expansion) ? 'This link leads straight there' : `This page ${fault}`;
  return works(expansion) ? headlines.final : `It leads to a page that ${fault}`;
}

/** Whether the chain ends at a page that exists. A website may admit visitors where it refuses us (401, 403, 429). */
export function works(expansion: Expansion): boolean {
  const { end, hops } = expansion;
  return end.code === 'final' && !isGone(expansion) && (hops.at(-1)?.status ?? 200) < 500;
}

/** Whether the chain ends at a page that does not exist. */
export function isGone({ end, hops }: Expansion): boolean {
  return end.code === 'final' && [404, 410].includes(hops.at(-1)?.status ?? 200);
}

/** Why the chain ended where it did. */
export function explanation(expansion: Expansion): string {
  const { end, hops, redirectCount } = expansion;
  const last = hops.at(-1);
  if (end.code === 'final' && last?.status) {
    const answered = `answered ${last.status}, ${statusInWords(last.status)}`;
    return redirectCount === 0 ? `The page ${answered}.` : `The last page ${answered}.`;
  }
  if (end.code === 'unsupported_scheme' && !expansion.error) return 'Only web pages are followed.';
  if (end.code === 'loop') return 'A redirect leads back to an earlier URL, so no page can be reached.';
  if (end.code === 'invalid_url' && end.message.startsWith('This is not a URL'))
    return 'A short URL looks like example.com/abc, with or without http:// in front.';
  return end.message;
}

/** Whether the URL was refused for its length alone. */
function isTooLong({ end, longUrl }: Expansion): boolean {
  return end.code === 'invalid_url' && Buffer.byteLength(longUrl ?? '') > maxLength;
}

export function advice(expansion: Expansion): string | undefined {
  const { end, error, hops, longUrl } = expansion;
  if (isUnknownName(expansion)) return 'The name may be misspelled, or have been given up.';
  const url = parseUrl(longUrl ?? '');
  if (end.code === 'target_refused' && (url?.username || url?.password))
    return `What stands before the @ is not the website. The website is ${url.host}.`;
  if (end.code === 'final' && [403, 429].includes(hops.at(-1)?.status ?? 200))
    return 'The website refused this server. It may still open for you.';
  return error ? errorKind(error.code).advice : undefined;
}

/** Whether the chain ends at a name that has no address: it cannot be opened, but names appear. */
export function isUnknownName({ error, longUrl }: Expansion): boolean {
  const url = parseUrl(longUrl ?? '');
  return url !== null && error?.message === noSuchWebsite(url.hostname);
}

/** Why the URL after the last hop has no answer; undefined if the last hop is the end. */
export function openEnd({ end, error }: Expansion): string | undefined {
  return error ? error.message : reasons[end.code];
}

export function statusInWords(status: number): string {
  return statusWords[status] ?? STATUS_CODES[status]?.toLowerCase() ?? 'unknown status';
}

/** `2 redirects followed in 143 ms.` The time is the sum of those that the hops show. */
export function summary({ hops, redirectCount, end, error, cached }: Expansion): string {
  const total = duration(hops.reduce((sum, { milliseconds }) => sum + rounded(milliseconds), 0));
  const time = cached ? `${total} (cached)` : total;
  if (redirectCount === 0) return `Answered in ${time}.`;
  const redirects = `${redirectCount} redirect${redirectCount > 1 ? 's' : ''}`;
  // After a loop or the limit, the last redirect that was found was not followed.
  if (end.code === 'loop' || end.code === 'max_redirects')
    return `${redirects} found, ${redirectCount - 1 || 'none'} followed, in ${time}.`;
  return error ? `${redirects} followed before that, in ${time}.` : `${redirects} followed in ${time}.`;
}

/** Milliseconds as text for the page. */
export function duration(milliseconds: number): string {
  const shown = rounded(milliseconds);
  if (shown < 1) return 'under 1 ms';
  return shown < 1_000 ? `${shown} ms` : `${(shown / 1_000).toFixed(1)} s`;
}

/** Milliseconds to the digit that is shown. */
function rounded(milliseconds: number): number {
  if (milliseconds < 1) return milliseconds;
  return milliseconds < 999.5 ? Math.round(milliseconds) : Math.round(milliseconds / 100) * 100;
}

/** `a`, `a and b`, `a, b and c`. */
export function list(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last;
}
