import { STATUS_CODES } from 'node:http';
import type { End, Expansion } from '../expansion/expansion.ts';

/** The heading of the answer, by the end of the chain. */
const headlines: Record<End['code'], string> = {
  final: 'It leads to',
  empty: 'Where does it lead?',
  max_redirects: 'There are more redirects',
  loop: 'The redirects form a loop',
  no_location: 'The link is broken',
  malformed_location: 'The link is broken',
  unsupported_scheme: 'It leads to something other than a web page',
  invalid_url: 'This is not a URL',
  invalid_callback: 'This could not be expanded',
  target_refused: 'This address is not allowed',
  request_failed: 'No answer',
  timeout: 'No answer in time',
  overloaded: 'The server is busy',
  rate_limited: 'Too many links at once',
  aborted: 'Stopped',
};

/** What people can do about it. */
const remedies: Partial<Record<End['code'], string>> = {
  invalid_url: 'A short URL looks like example.com/abc, with or without http:// in front.',
  target_refused: 'Only public websites are allowed, on the ports that websites use.',
  request_failed: 'The link may be outdated, or the website may be down.',
  timeout: 'The website may be busy. Trying again may help.',
  overloaded: 'Try again in a few seconds.',
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
  500: 'the website has a fault',
  502: 'the website has a fault',
  503: 'temporarily unavailable',
  504: 'the website took too long',
};

export function headline({ end, error, redirectCount }: Expansion): string {
  if (end.code === 'unsupported_scheme' && error) return 'Only web addresses can be expanded';
  if (end.code === 'final' && redirectCount === 0) return 'This link is not redirected';
  return headlines[end.code];
}

/** Why the chain ended where it did. */
export function explanation({ end, hops, redirectCount }: Expansion): string {
  const last = hops.at(-1);
  if (end.code === 'final' && last?.status) {
    const answered = `answered ${last.status}, ${statusInWords(last.status)}`;
    return redirectCount === 0 ? `The page ${answered}.` : `The last page ${answered}.`;
  }
  if (end.code === 'loop') return 'A redirect leads back to an earlier URL, so no page can be reached.';
  return end.message;
}

export function advice({ end }: Expansion): string | undefined {
  return remedies[end.code];
}

/** Why the URL after the last hop has no answer; undefined if the last hop is the end. */
export function openEnd({ end, error }: Expansion): string | undefined {
  return error ? error.message : reasons[end.code];
}

export function statusInWords(status: number): string {
  return statusWords[status] ?? STATUS_CODES[status]?.toLowerCase() ?? 'unknown status';
}

/** `2 redirects followed in 143 ms.`, with a note if this was earlier. */
export function summary({ hops, redirectCount, cached }: Expansion): string {
  const redirects = `${redirectCount || 'No'} redirect${redirectCount > 1 ? 's' : ''} followed`;
  const total = duration(hops.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  return cached ? `${redirects} in ${total} at an earlier request.` : `${redirects} in ${total}.`;
}

/** Milliseconds for people. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return 'under 1 ms';
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** `a`, `a and b`, `a, b and c`. */
export function list(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last;
}
