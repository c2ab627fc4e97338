import { ExpansionError } from './errors.ts';

/** A URL to request. The guard and the HTTP client use `url`. Users see `text`, which parses to the same URL. */
export interface Target {
  readonly text: string;
  readonly url: URL;
}

/** Maximum bytes of a URL that a user enters. */
export const maxLength = 8 * 1024;

/** Maximum length of a redirect target. A longer target does not fit into a response head. */
const maxTargetLength = 16 * 1024;

/** Matches characters that response bodies must not contain: markup, white space, controls, and non-ASCII. */
const unprintable = /[^\x21-\x7e]+|[<>"]+/g;

/** Matches a scheme at the start of a URL, but not the host in "host:80". */
const scheme = /^[a-z][a-z0-9+.-]*:(?!\d{1,5}(?:[/?#\\]|$))/i;

/** Matches a host that can exist. The URL parser also accepts hosts with quotes or braces. */
const host = /^[a-z0-9\-_.]+$|^\[[0-9a-f:]+\]$/;

/** Matches a URL that all parsers interpret in the same way. */
const plain = /^https?:\/\/[^/?#%\\]+(?:[/?#][^\\]*)?$/i;

/**
 * Parses user input. Trims white space, and adds `http://` if the scheme is missing.
 *
 * @throws ExpansionError `invalid_url` or `unsupported_scheme`.
 */
export function readTarget(input: string): Target {
  if (Buffer.byteLength(input) > maxLength) throw tooLong();
  const given = withScheme(trim(input));
  const url = parseUrl(given);
  if (url && !isWeb(url)) {
    throw new ExpansionError(
      'unsupported_scheme',
      `Only http and https URLs can be expanded, not ${url.protocol.slice(0, -1)}.`,
    );
  }
  if (!url || !host.test(url.hostname)) {
    const text = printable(input.trim());
    const shown = text.length > 100 ? `${text.slice(0, 100)}...` : text;
    throw new ExpansionError('invalid_url', `This is not a URL: ${shown}`, { reason: 'not_a_url' });
  }
  return { text: spelling(given, url), url };
}

/**
 * Resolves a `Location` against the URL that sent it, like a browser (Fetch standard, "location URL"). The result inherits the
 * fragment of `from` if `location` has no fragment. The result may have any scheme.
 *
 * @returns null if `location` is not a URL reference, or its host cannot exist.
 */
export function resolveLocation(location: string, from: Target): Target | null {
  const next = resolveReference(location, from);
  const fragment = from.url.href.slice(withoutFragment(from.url).length);
  if (!next || !isWeb(next.url) || fragment === '' || next.url.href.includes('#')) return next;
  return found(new URL(next.url.href + fragment));
}

/** Resolves a reference in a page or its `Refresh` header against the page's URL, without inheriting the fragment. */
export function resolveReference(reference: string, from: Target): Target | null {
  // An absolute URL parses twice as fast without a base.
  const url = parseUrl(reference, /^https?:\/\//.test(reference) ? undefined : from.url.href);
  if (!url || url.href.length > maxTargetLength || (isWeb(url) && !host.test(url.hostname))) return null;
  return found(url);
}

/** Returns a URL without its fragment, which clients do not send. */
export function withoutFragment({ href }: URL): string {
  const end = href.indexOf('#');
  return end === -1 ? href : href.slice(0, end);
}

/** Whether `to` is the https version of the http URL `from`. */
export function isUpgrade(from: URL, to: URL): boolean {
  return (
    from.protocol === 'http:' && withoutFragment(to) === withoutFragment(from).replace('http:', 'https:')
  );
}

/** Percent-encodes the characters of `text` that response bodies must not contain. */
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

/** Removes leading and trailing white space, control characters and invisible marks, such as those for text direction. */
function trim(text: string): string {
  const kept = /(?![\s\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069])[!-\uffff]/;
  const start = text.search(kept);
  let end = text.length;
  while (end > start + 1 && !kept.test(text[end - 1] as string)) end -= 1;
  return start === -1 ? '' : text.slice(start, end);
}

/** Adds a missing scheme. Returns an empty string for a path, because the parser would mistake its first segment for a host. */
function withScheme(given: string): string {
  // The parser ignores tabs and line breaks.
  const start = given.slice(0, 64).replace(/[\t\n\r]/g, '');
  if (scheme.test(start)) return given;
  if (/^[/\\]{2}/.test(start)) return `http:${given}`;
  return /^[/\\]/.test(start) ? '' : `http://${given}`;
}

/** Returns the URL as typed if it is unambiguous, otherwise as the parser serializes it. */
function spelling(given: string, url: URL): string {
  const text = printable(given);
  return plain.test(text) && !/[\t\n\r]/.test(given) ? text : printable(url.href);
}

/** Maximum characters of a host name (RFC 1035 section 2.3.4, without the trailing dot). */
const maxHost = 253;

/**
 * Maximum characters of a host before decoding, enough for 253 percent-encoded characters of three bytes each. Parsing time is
 * quadratic in the decoded length: 8,000 combining marks take 15 to 50 ms.
 */
const maxHostText = 2_500;
const maxDecodedText = maxHostText / 3;

/**
 * Parses a URL like `URL.parse`, but returns null if the host is too long. Use `parseUrl` for all untrusted URLs, because
 * `URL.parse` can block the event loop on a long host.
 */
export function parseUrl(text: string, base?: string): URL | null {
  if (text.length > maxDecodedText && hasLongHost(text)) return null;
  const url = URL.parse(text, base);
  return url && isWeb(url) && url.hostname.length > maxHost ? null : url;
}

function hasLongHost(text: string): boolean {
  const host = hostText(text);
  return host.length > maxHostText || host.replace(/%[\da-f]{2}/gi, '.').length > maxDecodedText;
}

export function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/** Matches everything up to the end of the authority. The URL parser does not interpret hosts of other schemes. */
const authority = /^[\0- ]*(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]{2,})([^/\\?#]*)/i;

/** Returns the host and port that the URL Standard's parser finds. The result is meaningless for a relative URL. */
export function hostText(text: string): string {
  const [, found = ''] = authority.exec(text.replace(/[\t\n\r]+/g, '')) ?? [];
  return found.slice(found.lastIndexOf('@') + 1);
}
