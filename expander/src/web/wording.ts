import { STATUS_CODES } from 'node:http';
import type { End, Expansion } from '../expansion/expansion.ts';

/** What the page calls the end of a chain. */
const headlines: Record<End['code'], string> = {
  final: 'It leads to',
  empty: 'Where does it lead?',
  max_redirects: 'It leads this far, and on',
  loop: 'It leads round in a circle',
  no_location: 'It stops on the way',
  malformed_location: 'It stops on the way',
  unsupported_scheme: 'It leads away from the web',
  invalid_url: 'That is not a URL',
  invalid_callback: 'This could not be expanded',
  target_refused: 'This address is not asked',
  request_failed: 'No answer',
  timeout: 'No answer in time',
  overloaded: 'Too busy just now',
  aborted: 'Stopped',
};

/** What a person can do about an end. */
const remedies: Partial<Record<End['code'], string>> = {
  invalid_url: 'A short URL looks like example.com/abc, with or without http:// in front.',
  target_refused: 'Only public websites are asked, on the ports that websites use.',
  request_failed: 'The link may be out of date, or the website may be down.',
  timeout: 'The website may be busy. Trying again may help.',
  overloaded: 'Try again in a few seconds.',
};

/** What stands after the last URL of a chain that was not asked, or did not answer. */
const reasons: Partial<Record<End['code'], string>> = {
  max_redirects: 'Not asked: that is as far as the redirects are followed.',
  loop: 'Asked before: from here it goes round again.',
  malformed_location: 'Not a URL.',
  unsupported_scheme: 'Not a web page: not asked, and no link.',
};

/** Words for the statuses that people meet; for the others those of the registry do. */
const statusWords: Record<number, string> = {
  200: 'OK',
  302: 'found elsewhere for now',
  303: 'see another page',
  307: 'moved for now',
  308: 'moved permanently',
  401: 'sign-in needed',
  403: 'access refused',
  405: 'this way of asking is not allowed',
  410: 'gone for good',
  429: 'too many requests',
  500: 'the website has a fault',
  502: 'the website has a fault',
  503: 'not available just now',
  504: 'the website took too long',
};

export function headline({ end, error, redirectCount }: Expansion): string {
  if (end.code === 'unsupported_scheme' && error) return 'Only web addresses can be expanded';
  if (end.code === 'final' && redirectCount === 0) return 'It leads nowhere else';
  return headlines[end.code];
}

/** Why the chain ended where it did. */
export function explanation({ end, hops, redirectCount }: Expansion): string {
  const last = hops.at(-1);
  if (end.code === 'final' && last) {
    const answered = `answered ${last.status}, ${statusInWords(last.status)}`;
    return redirectCount === 0
      ? `This URL is not redirected. It ${answered}.`
      : `The page at the end ${answered}.`;
  }
  if (end.code === 'loop') return 'The redirects come back to a URL that was asked before: nobody arrives.';
  return end.message;
}

export function advice({ end }: Expansion): string | undefined {
  return remedies[end.code];
}

/** Why the URL after the last hop has no answer; undefined where the last hop is the end. */
export function openEnd({ end, error }: Expansion): string | undefined {
  return error ? error.message : reasons[end.code];
}

export function statusInWords(status: number): string {
  return statusWords[status] ?? STATUS_CODES[status]?.toLowerCase() ?? 'a status without a name';
}

/** `2 redirects followed, 143 ms in all.`, or that this was earlier. */
export function summary({ hops, redirectCount, cached }: Expansion): string {
  const redirects = `${redirectCount || 'No'} redirect${redirectCount > 1 ? 's' : ''} followed`;
  const total = duration(hops.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  return cached
    ? `${redirects}; remembered from an earlier time, when it took ${total}.`
    : `${redirects}, ${total} in all.`;
}

/** Milliseconds for people. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return 'under 1 ms';
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
