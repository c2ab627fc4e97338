import type { Expansion } from '../expansion/expansion.ts';
import { tones, type Verdict } from './endings.ts';
import { judge } from './judge.ts';
import { list } from './list.ts';
import { pieces, urlParts } from './result.ts';

/** Max links of a message to check at once. */
export const maxLinks = 20;

/** Max characters of a long URL that replaces a link in the copied message. */
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
  const { ending, site, reason } = judge(expansion);
  const tone = toneOf(expansion);
  const title = ending.isTitled ? expansion.hops.at(-1)?.title : undefined;
  return {
    short: urlParts(u),
    href: `/?${new URLSearchParams({ u, exactly: '1' })}`,
    site: site ? pieces(site.name) : [],
    why: title ?? (site && !ending.warning && tone === 'plain' ? '' : reason),
    tone,
    rank: order.indexOf(tone),
  };
}

const toneOf = (expansion: Expansion) => {
  const { verdict } = judge(expansion).ending;
  return verdict ? tones[verdict] : 'grey';
};

/** What the summary counts, by verdict: one and several. */
const nouns: Record<Verdict, readonly [one: string, several: string]> = {
  'Page found': ['page', 'pages'],
  File: ['file', 'files'],
  'Opens an app': ['app', 'apps'],
  'Broken link': ['broken link', 'broken links'],
  'Anyone can publish here': ['page that anyone can make', 'pages that anyone can make'],
  'Not encrypted': ['unencrypted page', 'unencrypted pages'],
  'Blocked our check': ['website that blocked our check', 'websites that blocked our check'],
  'Not working right now': ['website that does not work', 'websites that do not work'],
  'Certificate problem': ['certificate problem', 'certificate problems'],
  Beware: ['link to beware of', 'links to beware of'],
};

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
  const shown = checked.map(({ expansion }) => toneOf(expansion));
  const count = (tone: string) => shown.filter((each) => each === tone).length;
  const worst = count('red') > 0 ? 'red' : count('amber') > 0 ? 'amber' : 'plain';
  const total = found.length > maxLinks ? `the ${checked.length} links` : `${checked.length} links`;
  const headlines = {
    red: `Beware of ${count('red')} of ${total}.`,
    amber: `Be careful with ${count('amber')} of ${total}.`,
    plain: `Nothing alarming among ${total}.`,
  };
  const next = from + maxLinks;
  const rest = Math.min(found.length - next, maxLinks);
  const part =
    found.length > maxLinks
      ? `These are links ${from + 1} to ${from + checked.length} of ${found.length}.`
      : '';
  const sentences = [`${summaryOf(checked)}.`, part].filter(Boolean);
  return {
    tone: worst,
    headline: headlines[worst],
    sentences,
    announcement: [headlines[worst], ...sentences].join(' '),
    actions: {
      copy: { text: withLongLinks(text, checked), what: '', label: 'Copy the message with long links' },
      links:
        rest > 0
          ? [
              {
                label: `Check the next ${rest}`,
                href: `/?${new URLSearchParams({ u: text, from: `${next}` })}`,
                isOut: false,
              },
            ]
          : [],
    },
  };
}

/** Counts the links by verdict, such as `17 pages, 2 broken links and 1 file`. */
function summaryOf(checked: readonly MessageLink[]): string {
  const verdicts = checked.map(({ expansion }) => judge(expansion).ending.verdict);
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
function withLongLinks(text: string, checked: readonly MessageLink[]): string {
  const long = new Map(
    checked
      .filter(
        ({ expansion }) => toneOf(expansion) !== 'red' && (expansion.longUrl?.length ?? 0) <= maxLongUrl,
      )
      .map(({ u, expansion }) => [u, expansion.longUrl ?? u]),
  );
  // Longer URLs first, because one may begin with another.
  const urls = [...long.keys()].sort((a, b) => b.length - a.length).map(RegExp.escape);
  return urls.length === 0 ? text : text.replace(RegExp(urls.join('|'), 'g'), (url) => long.get(url) ?? url);
}
