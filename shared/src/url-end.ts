/** Maps closing brackets and quotes to their opening counterparts. */
export const openers: ReadonlyMap<string, string> = new Map(
  ['()', '[]', '{}', "''", '“”', '‘’', '«»', '``'].map(([a = '', b = '']) => [b, a]),
);

const punctuation = '.,;:!?…*_。、，！？\u200b\ufeff';

/** Removes trailing punctuation, brackets and quotes. Keeps a closing bracket or quote if the URL contains its counterpart. */
export function withoutEnd(url: string): string {
  /** Number of unmatched closing brackets or quotes in `url`, keyed by the character. */
  const unopened = new Map<string, number>();
  const count = (character: string) => url.split(character).length - 1;
  let end = url.length;
  for (;;) {
    const last = url.charAt(end - 1);
    const opener = openers.get(last);
    if (opener !== undefined) {
      const found = unopened.get(last) ?? (opener === last ? count(last) % 2 : count(last) - count(opener));
      if (found <= 0) break;
      unopened.set(last, found - 1);
    } else if (last === '' || !punctuation.includes(last)) break;
    end -= 1;
  }
  return url.slice(0, end);
}
