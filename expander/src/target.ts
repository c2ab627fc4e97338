import { ExpansionError } from './expansion-error.ts';

/**
 * A URL that is asked. `text` is the URL as it was written, in legal characters only (RFC 3986); `url` is
 * what the WHATWG parser makes of that very text, for judging and for dialling. Both mean the same.
 */
export interface Target {
  readonly text: string;
  readonly url: URL;
}

/** Bytes of the longest URL that is accepted. */
const maxLength = 8 * 1024;

/** Everything that is neither reserved nor unreserved nor "%" (RFC 3986 section 2). */
const illegal = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g;

/** A scheme at the beginning of a URL; "host:80" has none. */
const scheme = /^[a-z][a-z0-9+.-]*:(?!\d{1,5}(?:[/?#]|$))/i;

/** A URL that every parser reads alike: two slashes and a host of plain characters. */
const plain = /^https?:\/\/[^/?#%]/i;

/**
 * Reads what a person typed: white space round it is trimmed, a missing scheme means `http://`.
 *
 * @throws ExpansionError `invalid_url` or `unsupported_scheme`.
 */
export function readTarget(input: string): Target {
  if (Buffer.byteLength(input) > maxLength) {
    throw new ExpansionError('invalid_url', `The URL is longer than ${maxLength} bytes.`);
  }
  const given = encode(input.trim());
  const text = scheme.test(given) ? given : given.startsWith('//') ? `http:${given}` : `http://${given}`;
  if (!URL.canParse(text) || /^[/?#]($|[^/])/.test(given)) {
    throw new ExpansionError('invalid_url', `This is not a URL: ${shorten(given)}`);
  }
  const url = new URL(text);
  if (!isWeb(url)) {
    throw new ExpansionError(
      'unsupported_scheme',
      `Only http and https URLs can be expanded, not ${url.protocol}`,
    );
  }
  return target(text, url);
}

/**
 * What a `Location` says, seen from the URL that answered with it: relative references are resolved, and a
 * reference without a fragment inherits that of `from` (RFC 9110 section 10.2.2). Any scheme may come out.
 *
 * @returns null where `location` is no URL reference.
 */
export function resolveLocation(location: string, from: Target): Target | null {
  const reference = encode(location.trim());
  if (!URL.canParse(reference, from.url.href)) return null;
  const hash = from.text.indexOf('#');
  const fragment = hash === -1 || reference.includes('#') ? '' : from.text.slice(hash);
  const url = new URL(new URL(reference, from.url).href + fragment);
  return target(reference + fragment, url);
}

/** Whether a URL can be asked by HTTP at all. */
export function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/** Keeps the spelling where it leaves nothing to interpretation, otherwise takes the parser's. */
function target(text: string, url: URL): Target {
  const authority = /^[^/?#]*\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  return { text: plain.test(text) && !authority.includes('%') ? text : url.href, url };
}

function encode(text: string): string {
  return text.toWellFormed().replace(illegal, encodeURIComponent);
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
