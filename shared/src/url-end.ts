/** Maps closing brackets and quotes to their opening counterparts. */
export const openers: ReadonlyMap<string, string> = new Map(
  ['()', '[]', '{}', "''", '""', '“”', '‘’', '«»', '``', '（）', '「」', '『』', '【】', '《》', '〈〉'].map(
    ([a = '', b = '']) => [b, a],
  ),
);

const punctuation = '.,;:!?…。、，；：！？،؛؟।॥\u200b\ufeff';

/** Marks of emphasis in Markdown and chats. A short URL may end with one, too. */
const emphasis = '*_~';

/** Punctuation of scripts without spaces between words, which ends a URL. */
export const stops = '\u3000-\u303f\uff00-\uff0f\uff1a-\uff20،؛؟।॥';

/**
 * Removes trailing punctuation, brackets and quotes. Keeps a closing bracket or quote if the URL contains its counterpart.
 *
 * @param before the character in front of the URL. A mark of emphasis ends the URL only if it also stands there.
 */
export function withoutEnd(url: string, before = ''): string {
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
    } else if (last === '' || !isEnd(last, before)) break;
    end -= 1;
  }
  return url.slice(0, end);
}

function isEnd(character: string, before: string): boolean {
  return punctuation.includes(character) || (emphasis.includes(character) && character === before);
}

/** Matches a character of a script without spaces between words. A URL may follow it directly. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Returns the URL at the start of `text`, which may be followed by the rest of a word: a table cell, the label of a link in
 * AsciiDoc, Org or BBCode, or text in a script without spaces.
 *
 * @param before the text in front of the URL.
 */
export function urlAtStart(text: string, before: string): string {
  const last = before.slice(-1);
  const [, site = '', path = '', query = ''] = /^(https?:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? [];
  const ends = [
    last === '|' ? text.indexOf('|') : -1,
    before.includes('[') ? text.indexOf(']') : -1,
    path.includes('[') ? site.length + path.indexOf('[') : -1,
    query === '' && path === '' && !site.includes('//[') ? site.indexOf('[') : -1,
    unspaced.test(last) ? text.search(unspaced) : -1,
  ].filter((end) => end > 0);
  return withoutEnd(text.slice(0, Math.min(text.length, ...ends)), last);
}
