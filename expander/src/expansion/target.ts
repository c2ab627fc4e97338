import { ExpansionError } from './errors.ts';

/**
 * A URL to request. `text` is the URL as it was written, in legal characters only (RFC 3986); `url` is what the WHATWG
 * parser makes of that text, for the guard and the connection. Both mean the same.
 */
export interface Target {
  readonly text: string;
  readonly url: URL;
}

/** Bytes of the longest URL. */
export const maxLength = 8 * 1024;

/** Everything that is neither reserved nor unreserved nor "%" (RFC 3986 section 2). */
const illegal = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g;

/** A scheme at the beginning of a URL; "host:80" has none. */
const scheme = /^[a-z][a-z0-9+.-]*:(?!\d{1,5}(?:[/?#]|$))/i;

/** Letters, digits, "-", "_" and ".", or an IPv6 address: the WHATWG parser accepts more, such as quotes. */
const host = /^[a-z0-9\-_.]+$|^\[[0-9a-f:]+\]$/;

/** A URL that every parser reads in the same way: two slashes and a host of plain characters. */
const plain = /^https?:\/\/[^/?#%]/i;

/**
 * Reads what a person typed: white space around it is trimmed, a missing scheme means `http://`.
 *
 * @throws ExpansionError `invalid_url` or `unsupported_scheme`.
 */
export function readTarget(input: string): Target {
  if (Buffer.byteLength(input) > maxLength) {
    throw tooLong();
  }
  const given = encode(input.trim());
  const text = scheme.test(given) ? given : given.startsWith('//') ? `http:${given}` : `http://${given}`;
  const url = /^[/?#]($|[^/])/.test(given) ? null : URL.parse(text);
  if (url && !isWeb(url)) {
    throw new ExpansionError(
      'unsupported_scheme',
      `Only http and https URLs can be expanded, not ${url.protocol}`,
    );
  }
  if (!url || !host.test(url.hostname)) {
    throw new ExpansionError('invalid_url', `This is not a URL: ${shorten(given)}`);
  }
  return target(text, url);
}

/**
 * Resolves a `Location` against the URL that sent it. A reference without a fragment inherits that of `from` (RFC 9110
 * section 10.2.2). The result may have any scheme.
 *
 * @returns null if `location` is not a URL reference.
 */
export function resolveLocation(location: string, from: Target): Target | null {
  const reference = encode(location.trim());
  const resolved = URL.parse(reference, from.url.href);
  if (!resolved || (isWeb(resolved) && !host.test(resolved.hostname))) return null;
  const hash = from.text.indexOf('#');
  const fragment = hash === -1 || reference.includes('#') ? '' : from.text.slice(hash);
  const url = fragment === '' ? resolved : new URL(resolved.href + fragment);
  return target(reference + fragment, url);
}

/** Whether the scheme is http or https. */
export function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/** The part of a URL that is sent. */
export function withoutFragment({ href, hash }: URL): string {
  return href.slice(0, href.length - hash.length);
}

/** Keeps the spelling if it is unambiguous, else takes the parser's. */
function target(text: string, url: URL): Target {
  const authority = /^[^/?#]*\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  const clear = !isWeb(url) || (plain.test(text) && !authority.includes('%'));
  return { text: clear ? text : url.href, url };
}

export function tooLong(): ExpansionError {
  return new ExpansionError('invalid_url', `The URL is longer than ${maxLength} bytes.`);
}

function encode(text: string): string {
  return text.toWellFormed().replace(illegal, encodeURIComponent);
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
