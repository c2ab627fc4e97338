/** Characters of the longest name (RFC 1035 section 2.3.4, without the root's dot). */
const maxHost = 253;

/**
 * Characters of the text of a host, before it is parsed: a name of 253 characters of three bytes, percent-encoded. The
 * parser's time grows with the square of what they stand for: 8,000 combining marks take 15 to 50 ms.
 */
const maxHostText = 2_500;
const maxDecodedText = maxHostText / 3;

/**
 * Parses a URL as `URL.parse` does. Every URL of strangers comes by here: a host of any length would block the event loop.
 *
 * @returns null also where the host is longer than a name can be.
 */
export function parseUrl(text: string, base?: string): URL | null {
  const host = hostText(text);
  if (host.length > maxHostText || host.replace(/%[\da-f]{2}/gi, '.').length > maxDecodedText) return null;
  const url = URL.parse(text, base);
  return url && isWeb(url) && url.hostname.length > maxHost ? null : url;
}

/** Whether the scheme is http or https. */
export function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/** An authority with what precedes it. Hosts of other schemes are not looked at by the parser, only kept. */
const authority = /^[\0- ]*(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]{2,})([^/\\?#]*)/i;

/** The host, with its port, where the URL Standard's parser finds it; with a base, perhaps more than that. */
export function hostText(text: string): string {
  // The parser ignores tabs and line ends, wherever they are.
  const [, found = ''] = authority.exec(text.replace(/[\t\n\r]+/g, '')) ?? [];
  return found.slice(found.lastIndexOf('@') + 1);
}
