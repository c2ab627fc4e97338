/**
 * Splits a header value at every `separator` outside quoted strings (RFC 9110 section 5.6.4). The closing quote may be missing.
 * Skips empty parts. Reads each character once: a regular expression would read an unclosed string again from every quote.
 */
export function* unquotedParts(value: string, separator: ',' | ';'): Generator<string> {
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at];
    if (character === '"') isQuoted = !isQuoted;
    if (isQuoted && character === '\\') at += 1;
    if (isQuoted || character !== separator) continue;
    if (at > start) yield value.slice(start, at);
    start = at + 1;
  }
  if (start < value.length) yield value.slice(start);
}
