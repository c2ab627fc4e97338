/** Where a page sends its visitors by itself: by a `Refresh` header, or by `<meta http-equiv="refresh">`. */
export interface Refresh {
  kind: 'refresh' | 'meta';
  /** The URL it leads to, resolved by the page's own rules (`<base href>`, encoding); empty for the page itself. */
  url: string;
}

/** Seconds after which a visitor has begun to read: the chain ends at a page that waits longer. */
export const maxDelay = 15;

/**
 * Reads a `Refresh` header or the `content` of a meta element, such as `0; url=/next`, as browsers do (HTML standard,
 * "shared declarative refresh steps"). Where the standard and Chromium differ, as in quotes, Chromium decides.
 *
 * @returns the delay in seconds, and the URL as written, empty if there is none; null if this is not a refresh.
 */
export function parseRefresh(text: string): { delay: number; url: string } | null {
  const [, time = '', rest = ''] = /^[\t\n\f\r ]*([\d.]+)(?![^\t\n\f\r ,;])(.*)$/s.exec(text) ?? [];
  // Text after a second point is ignored.
  const delay = Number.parseFloat(time);
  if (Number.isNaN(delay)) return null;
  const target = rest.replace(/^[\t\n\f\r ]*[,;]?[\t\n\f\r ]*/, '');
  return { delay, url: unquoted(target.replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '')) };
}

/** The text between a quote and the last one like it, or after a single quote. */
function unquoted(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  const end = text.lastIndexOf(quote);
  return text.slice(1, end > 0 ? end : undefined);
}
