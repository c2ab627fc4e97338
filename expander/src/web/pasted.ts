import { openers, stops, urlAtStart, withoutEnd } from '@longhand/shared/url-end.ts';
import { hasKnownSuffix } from '../expansion/host.ts';
import { maxLength, parseUrl } from '../expansion/target.ts';

const opening = /^[([{'“‘«`（「『【《〈]+/;

/** Matches a host with at least two labels, an optional port and an optional path. The last label begins with a letter. */
const withoutScheme = /^(?:[\p{L}\p{N}][\p{L}\p{N}-]*\.)+\p{L}[\p{L}\p{N}-]*(?::\d+)?(?:[/?#].*)?$/u;

const otherScheme = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Finds URLs in pasted text such as a sentence, Markdown, HTML, JSON or a defanged URL (`hxxp://a[.]example`). Prefers
 * URLs that have a scheme, or a known top-level domain and a path. Next come other URLs with a path, then hosts.
 *
 * @returns `text` itself if it contains no URL.
 */
export function linksIn(text: string): readonly string[] {
  if (text.length > maxLength) return [text];
  const urls = words(repaired(text))
    .map(urlIn)
    .filter((url) => url !== '');
  const paths = urls.filter((url) => url.includes('/'));
  const kinds = [paths.filter((url) => hasScheme(url) || isKnown(url)), paths, urls, [text]];
  return [...new Set(kinds.find(({ length }) => length > 0))];
}

const hasScheme = (url: string) => /^https?:\/\//i.test(url);

function isKnown(url: string): boolean {
  const parsed = parseUrl(`http://${url}`);
  return parsed !== null && hasKnownSuffix(parsed);
}

/** Repairs broken schemes and dots, and removes white space around slashes. */
function repaired(text: string): string {
  return visible(text)
    .replaceAll('&amp;', '&')
    .replace(/<(https?:\/\/[^\s<>|]+)\|[^<>]*>/gi, ' $1 ')
    .replace(
      /(?<![^\s<>()[\]"'“”‘’«»`])h(?:tt|xx|XX)p(s?)(?:\[:\]|[:;]|)(?:\[\/\/\]|\/\/)\s*/gi,
      (found, s) => (hasScheme(found) && !/\s$/.test(found) ? found : `http${s.toLowerCase()}://`),
    )
    .replace(/[[({](?:\.|dot)[\])}]/gi, '.')
    .replace(/(?<!\s)\s{1,9}\/(?:\s{1,9}(?!https?:))?(?=[^\s/])/gi, '/');
}

/**
 * Removes invisible characters, except joiners, which words need. Messengers and browsers put them around URLs. The end of a text
 * direction also ends a word.
 */
function visible(text: string): string {
  return text
    .replace(/[\u202c\u2069]|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff](?=https?:)/gi, ' ')
    .replace(/[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '');
}

const plainUrl = new RegExp(`^https?://[^\\s${stops}]*$`, 'i');
const gaps = new RegExp(`[\\s"<>${stops}]+`);

/** Splits the text at white space, quotes, angle brackets and punctuation of Asian scripts. Reduces a Markdown link to its target. */
function words(text: string): string[] {
  if (plainUrl.test(text)) return [text];
  return text.replace(/\[[^\][]*\]\(/g, ' (').split(gaps);
}

/** Returns the URL in a word, or an empty string. */
function urlIn(word: string): string {
  const start = word.search(/https?:\/\//i);
  const plain = withoutEnd(word.replace(opening, ''));
  if (hasScheme(plain)) return enclosed(word, start);
  if (withoutScheme.test(plain)) return plain;
  return start > 0 && !otherScheme.test(plain) ? enclosed(word, start) : '';
}

/** Returns the URL at `start`. A URL in brackets or quotes ends before the closing character. */
function enclosed(word: string, start: number): string {
  const opener = word[start - 1];
  const url = word.slice(start);
  const end = Math.max(
    ...Array.from(openers, ([closer, open]) => (open === opener ? url.lastIndexOf(closer) : -1)),
  );
  return urlAtStart(end > 0 ? url.slice(0, end) : url, word.slice(0, start));
}
