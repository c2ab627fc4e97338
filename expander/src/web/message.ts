import type { Expansion } from '../expansion/expansion.ts';
import { type Ending, tones, type Verdict } from './endings.ts';
import { hostPieces, type TextPart, withHosts, words } from './host-pieces.ts';
import { type Judgement, judge } from './judge.ts';
import { list } from './list.ts';
import { urlParts } from './result.ts';

/** Maximum links of a message to check at once. */
export const maxLinks = 20;

/** Maximum characters of a long URL that replaces a link in the copied message. */
const maxLongUrl = 2_000;

/** A checked link of a message. */
export interface MessageLink {
  u: string;
  expansion: Expansion;
}

/** The colours, worst first. */
const order = ['red', 'amber', 'grey', 'plain'];

/** Returns the `message-row` view's data: the short URL, the site, the reason and a link to the link's own page. */
export function describeRow({ u, expansion }: MessageLink) {
  const judgement = judge(expansion);
  const { ending, site } = judgement;
  const tone = toneOf(ending);
  const title = ending.isTitled ? expansion.hops.at(-1)?.title : undefined;
  return {
    short: urlParts(u),
    href: `/?${new URLSearchParams({ u, exactly: '1' })}`,
    site: site ? hostPieces(site.name) : [],
    why: title ? [words(title)] : whyOf(judgement),
    tone,
    rank: order.indexOf(tone),
  };
}

/** Returns what a row says below the site, without repeating the site. */
function whyOf({ ending: { verdict }, site, reason, named }: Judgement): TextPart[] {
  if (site && verdict === 'Page found') return [];
  return verdict === 'Not encrypted' ? [words(verdict)] : withHosts(reason, named);
}

const toneOf = ({ verdict }: Ending) => (verdict ? tones[verdict] : 'grey');

interface JudgedLink extends MessageLink {
  ending: Ending;
}

/** What the summary counts, by verdict: one and several. */
const nouns: Record<Verdict, readonly [one: string, several: string]> = {
  'Page found': ['page', 'pages'],
  File: ['file', 'files'],
  'Opens an app': ['app', 'apps'],
  'Broken link': ['broken link', 'broken links'],
  'Contents unknown': ['file with unknown contents', 'files with unknown contents'],
  'Not checked to the end': ['page that may redirect', 'pages that may redirect'],
  'Anyone can publish here': ['page that anyone can make', 'pages that anyone can make'],
  'Not encrypted': ['unencrypted page', 'unencrypted pages'],
  'Blocked our check': ['website that blocked our check', 'websites that blocked our check'],
  'Not working right now': ['website that does not work', 'websites that do not work'],
  'Certificate problem': ['certificate problem', 'certificate problems'],
  Beware: ['link to beware of', 'links to beware of'],
};

/** Returns the worst tone of the links, and how many have it. @param isPart whether the message has more links. */
function headlineOf(judged: readonly JudgedLink[], isPart: boolean) {
  const count = (tone: string) => judged.filter(({ ending }) => toneOf(ending) === tone).length;
  const total = isPart ? `the ${judged.length} links` : `${judged.length} links`;
  if (count('red') > 0) return { tone: 'red', headline: `Beware of ${count('red')} of ${total}.` };
  if (count('amber') > 0)
    return { tone: 'amber', headline: `Be careful with ${count('amber')} of ${total}.` };
  return { tone: 'plain', headline: `Nothing alarming among ${total}.` };
}

/**
 * Returns the `message` view's data.
 *
 * @param text the pasted message. @param found all its links. @param from number of links before the checked ones.
 */
export function describeMessage(
  text: string,
  checked: readonly MessageLink[],
  { found, from }: { found: readonly string[]; from: number },
) {
  const judged = checked.map((link) => ({ ...link, ending: judge(link.expansion).ending }));
  const isPart = found.length > maxLinks;
  const { tone, headline } = headlineOf(judged, isPart);
  const part = isPart ? `These are links ${from + 1} to ${from + checked.length} of ${found.length}.` : '';
  const sentences = [`${summaryOf(judged)}.`, part].filter(Boolean);
  return {
    tone,
    headline,
    sentences,
    announcement: [headline, ...sentences].join(' '),
    actions: {
      copy: { text: withLongLinks(text, judged), what: '', label: 'Copy the message with long links' },
      links: linksToRest(text, found.length, from + maxLinks),
    },
  };
}

/** Returns a link that checks the next links of a message, if it has more. @param count number of its links. */
function linksToRest(text: string, count: number, next: number) {
  const rest = Math.min(count - next, maxLinks);
  if (rest <= 0) return [];
  const query = new URLSearchParams({ u: text, from: `${next}` });
  return [{ label: `Check the next ${rest}`, href: `/?${query}`, isOut: false }];
}

/** Counts the links by verdict, such as `17 pages, 2 broken links and 1 file`. */
function summaryOf(judged: readonly JudgedLink[]): string {
  const verdicts = judged.map(({ ending }) => ending.verdict);
  const counts = Object.entries(nouns).map(([verdict, [one, several]]) => {
    const count = verdicts.filter((each) => each === verdict).length;
    return { count, words: `${count} ${count === 1 ? one : several}` };
  });
  const unknown = verdicts.filter((verdict) => verdict === null).length;
  const all = [...counts, { count: unknown, words: `${unknown} not checked` }];
  return list(
    all
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .map(({ words }) => words),
  );
}

/** Replaces short URLs in a message, except those to beware of, which nobody should open. */
function withLongLinks(text: string, judged: readonly JudgedLink[]): string {
  const mayReplace = ({ expansion, ending }: JudgedLink) =>
    toneOf(ending) !== 'red' && (expansion.longUrl?.length ?? 0) <= maxLongUrl;
  const long = new Map(judged.filter(mayReplace).map(({ u, expansion }) => [u, expansion.longUrl ?? u]));
  // Longer URLs first, because one may begin with another.
  const urls = [...long.keys()].sort((a, b) => b.length - a.length).map(RegExp.escape);
  return urls.length === 0 ? text : text.replace(RegExp(urls.join('|'), 'g'), (url) => long.get(url) ?? url);
}
