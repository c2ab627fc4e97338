import { ExpansionError } from './errors.ts';
import { isWeb, parseUrl } from './parse-url.ts';

/**
 * A URL to request: what the WHATWG parser made of it. The guard checks `url`, the connection goes to `url`, and `text`
 * shows it. `text` parses to the same `url`.
 */
export interface Target {
  readonly text: string;
  readonly url: URL;
}

/** Bytes of the longest URL that is given. */
export const maxLength = 8 * 1024;

/** Characters of the longest URL that a website leads to; a response's headers hold no more. */
const maxTargetLength = 16 * 1024;

/** What may not appear in a response body: markup, white space, controls, and everything beyond ASCII. */
const unprintable = /[^\x21-\x7e]+|[<>"]+/g;

/** A scheme at the beginning of a URL; "host:80" has none. */
const scheme = /^[a-z][a-z0-9+.-]*:(?!\d{1,5}(?:[/?#\\]|$))/i;

/** Letters, digits, "-", "_" and ".", or an IPv6 address: no name server has quotes or braces, which the parser accepts. */
const host = /^[a-z0-9\-_.]+$|^\[[0-9a-f:]+\]$/;

/** A URL that every parser reads in the same way: two slashes, a host of plain characters, and no backslash. */
const plain = /^https?:\/\/[^/?#%\\]+(?:[/?#][^\\]*)?$/i;

/** A reference that no base can change. */
const absolute = /^https?:\/\//;

/**
 * Reads typed text: white space around it is trimmed, and a missing scheme means `http://`.
 *
 * @throws ExpansionError `invalid_url` or `unsupported_scheme`.
 */
export function readTarget(input: string): Target {
  if (Buffer.byteLength(input) > maxLength) {
    throw tooLong();
  }
  const given = withScheme(trim(input));
  const url = parseUrl(given);
  if (url && !isWeb(url)) {
    throw new ExpansionError(
      'unsupported_scheme',
      `Only http and https URLs can be expanded, not ${url.protocol.slice(0, -1)}.`,
    );
  }
  if (!url || !host.test(url.hostname)) {
    throw new ExpansionError('invalid_url', `This is not a URL: ${shorten(printable(input.trim()))}`, {
      reason: 'not_a_url',
    });
  }
  return { text: spelling(given, url), url };
}

/**
 * Resolves a `Location` against the URL that sent it, as a browser does (Fetch standard, "location URL"). A reference
 * without a fragment inherits that of `from`. The result may have any scheme.
 *
 * @returns null if `location` is not a URL reference, or leads to a host that cannot exist.
 */
export function resolveLocation(location: string, from: Target): Target | null {
  const next = resolveReference(location, from);
  const fragment = from.url.href.slice(withoutFragment(from.url).length);
  if (!next || !isWeb(next.url) || fragment === '' || next.url.href.includes('#')) return next;
  return found(new URL(next.url.href + fragment));
}

/** Resolves a reference in a page, or its `Refresh` header, against the URL of the page: nothing is inherited. */
export function resolveReference(reference: string, from: Target): Target | null {
  // An absolute URL does not depend on a base; without one it parses in half the time.
  const url = parseUrl(reference, absolute.test(reference) ? undefined : from.url.href);
  if (!url || url.href.length > maxTargetLength || (isWeb(url) && !host.test(url.hostname))) return null;
  return found(url);
}

/** The part of a URL that is sent. */
export function withoutFragment({ href }: URL): string {
  const end = href.indexOf('#');
  return end === -1 ? href : href.slice(0, end);
}

/** `text` as it may appear in a response body. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, encodeURIComponent);
}

export function tooLong(): ExpansionError {
  return new ExpansionError('invalid_url', `The URL is longer than ${maxLength} bytes.`, {
    reason: 'too_long',
  });
}

function found(url: URL): Target {
  return { text: printable(url.href), url };
}

/** Removes white space, and the controls that the parser ignores there. */
function trim(text: string): string {
  const kept = /(?!\s)[!-\uffff]/;
  const start = text.search(kept);
  let end = text.length;
  while (end > start + 1 && !kept.test(text[end - 1] as string)) end -= 1;
  return start === -1 ? '' : text.slice(start, end);
}

/** A single slash begins a path without a website: the parser would take its first segment for a host. */
function withScheme(given: string): string {
  // The parser ignores tabs and line ends, wherever they are.
  const start = given.slice(0, 64).replace(/[\t\n\r]/g, '');
  if (scheme.test(start)) return given;
  if (/^[/\\]{2}/.test(start)) return `http:${given}`;
  return /^[/\\]/.test(start) ? '' : `http://${given}`;
}

/** The URL as it was given if that is unambiguous, else as the parser writes it. */
function spelling(given: string, url: URL): string {
  const text = printable(given);
  return plain.test(text) && !/[\t\n\r]/.test(given) ? text : printable(url.href);
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
