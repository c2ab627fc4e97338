/**
 * Splits a host before dots and hyphens, where its lines may break. A line that begins with neither would look like a host.
 * Punycode has no parts to read, so its hyphens stay. Addresses stay whole, and so do names that are written from right to left,
 * because pieces would change their order.
 */
export function hostPieces(host: string): string[] {
  if (/[\u0590-\u08ff]|^[\d[]/.test(host)) return [host];
  return host
    .split(/(?=\.(?!$))/)
    .flatMap((label) => (/^\.?xn--/.test(label) ? [label] : label.split(/(?<!-)(?=-)/)));
}

/** A part of a text: words; or a host, in pieces, with the punctuation around it. */
export interface TextPart {
  before: string;
  host: string[];
  after: string;
}

export const words = (text: string): TextPart => ({ before: text, host: [], after: '' });

/** Splits a text at the hosts that it names, so that their lines break like those of other hosts. */
export function withHosts(text: string, hosts: readonly string[]): TextPart[] {
  const names = [...new Set(hosts)].sort((a, b) => b.length - a.length).map(RegExp.escape);
  if (names.length === 0) return [words(text)];
  // A host may be the end of another, or be followed by a full stop.
  const host = RegExp(`([“(]?)(?<![\\w.-])(${names.join('|')})(?![\\w-]|\\.\\w)([”).,:?]*)`);
  const [start = '', ...rest] = text.split(host);
  const parts = [words(start)];
  for (let at = 0; at < rest.length; at += 4) {
    const [before = '', name = '', after = '', next = ''] = rest.slice(at, at + 4);
    parts.push({ before, host: hostPieces(name), after }, words(next));
  }
  return parts.filter(({ before, host }) => before !== '' || host.length > 0);
}
