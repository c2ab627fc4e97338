import type { Expansion, Hop } from '../expansion/expansion.ts';
import { splitName } from '../expansion/file-kinds.ts';
import { describeHost, readableHost, registrableDomain, type UnicodeHost } from '../expansion/host.ts';
import { hostText, isWeb, parseUrl } from '../expansion/target.ts';
import { type Ending, tones } from './endings.ts';
import { type Judgement, judge } from './judge.ts';
import { list } from './list.ts';
import { linksIn } from './pasted.ts';
import { withoutTracking } from './tracking-parameters.ts';
import { duration, errorStatus, sizeInWords, statusInWords, summary } from './wording.ts';

/** Returns the `result` view's data. The view omits null and empty values. */
export function describeResult(u: string, expansion: Expansion) {
  const { hops, longUrl, end, error } = expansion;
  const judgement = judge(expansion);
  const { ending, warning, reason, url, site, unencrypted, fill } = judgement;
  const { verdict, open } = ending;
  const begun = hops.length > 0;
  const last = end.code === 'final' ? hops.at(-1) : undefined;
  const sentence = ending.sentence
    ? fill(ending.sentence)
    : last
      ? errorStatus(last)
      : sentenceOf(ending, end.message);
  const advice = ending.advice ? fill(ending.advice) : null;
  const original = begun || verdict ? (end.target ?? longUrl) : null;
  const { cleaned, parameters } = withoutTracking(open && site ? (original ?? '') : '');
  const isTracked = parameters.length > 0;
  const destination = isTracked ? cleaned : original;
  const stop = ending.stop ?? error?.message;
  const title = last?.title ?? null;
  const isTitled = ending.isTitled === true && title !== null;
  const said = isTitled ? `${title}. It leads to ${site?.name}` : reason;
  return {
    begun,
    verdict,
    tone: verdict && tones[verdict],
    headline: isTitled
      ? { title, lines: [], after: '' }
      : { title: null, ...headlineOf(judgement, original) },
    site: site ? pieces(site.name) : [],
    destination: destination ? urlParts(destination, site?.ascii, warning === 'subdomain') : null,
    file: last?.file ? describeFile(last.file, judgement.program) : null,
    unencrypted,
    hosts: hostNotes([...hops.map((hop) => new URL(hop.url)), url]),
    title: isTitled ? null : title,
    /** Links below the URL. A script adds the Copy and Share buttons for `copy`. */
    actions: {
      copy: destination ? copyButton(u, destination, isTracked, judgement) : null,
      links: [...nextLink(u, expansion, ending), ...outLink(open, destination)],
    },
    sentences: [sentence, advice].filter((text) => text !== null && text !== ''),
    detail: end.detail ?? null,
    summary: summary(expansion),
    journey: begun ? journey(hops, end.target ?? longUrl) : null,
    /** The last URL of the chain and the reason why it has no response. Null if the last URL has a response. */
    stop: begun && original && stop ? { ...urlParts(original), number: hops.length + 1, reason: stop } : null,
    tracking: isTracked
      ? {
          original: urlParts(original ?? ''),
          parameters,
          actions: {
            copy: { text: original ?? '', what: 'the original URL', label: 'Copy' },
            links: outLink('Open original', original),
          },
        }
      : null,
    /** Text for screen readers. */
    announcement: (verdict === 'Page found'
      ? [said, advice, summary(expansion)]
      : [verdict, said, sentence, advice]
    )
      .filter(Boolean)
      .map((text) => `${text}`.replace(/\.$/, ''))
      .join('. '),
    documentTitle: documentTitle(hops[0]?.url, original),
  };
}

/** Max characters of a URL on the page, which shows up to 20 URLs of 16 KiB. A domain has 253, and its port may have zeros. */
const maxShown = { url: 2_000, before: 500, domain: 300, after: 1_200 };

/** Returns the error message, unless the ending says the same. */
const sentenceOf = ({ verdict, headline }: Ending, message: string) =>
  verdict === 'Opens an app' || headline === message ? '' : message;

/** Splits the headline at the site. `after` is null if the headline names no site. */
function headlineOf({ ending, fill, site }: Judgement, original: string | null) {
  const [before = '', after = null] = ending.headline.split('SITE');
  // Each sentence has its own line.
  const lines = before.split(/(?<=\.) /).map(fill);
  return { lines, after: site && original && after !== null ? fill(after) : null };
}

function describeFile({ name, size }: NonNullable<Hop['file']>, program: Judgement['program']) {
  const parts = program ? splitName(name) : { stem: name, extension: '' };
  return { ...parts, size: size === null ? null : sizeInWords(size), looksLike: program?.looksLike ?? null };
}

/** Returns the text that the Copy button copies. A warning has no clickable names, because nobody should open them by accident. */
function copyButton(u: string, destination: string, isTracked: boolean, { ending, reason }: Judgement) {
  if (ending.isShared) {
    const text = `Beware of ${defanged(cut(u))}. ${defanged(reason)}.`;
    return { text, what: '', label: 'Copy as a warning' };
  }
  return { text: destination, what: isTracked ? 'the URL without tracking' : 'the long URL', label: 'Copy' };
}

const defanged = (text: string) => text.replace(/\.(?=\S)/g, '[.]').replace(/^http/i, 'hxxp');

/** Returns the hosts of a chain in order, such as `bit.ly` and `nytimes.com`. */
function journey(hops: readonly Hop[], end: string | null): string[] {
  const hosts = [...hops.map(({ url }) => url), end ?? ''].map((url) => {
    const parsed = parseUrl(url);
    return parsed && (isWeb(parsed) ? (readableHost(parsed) ?? parsed.host) : parsed.protocol);
  });
  const sites = hosts.filter((host, index) => host !== null && host !== hosts[index - 1]) as string[];
  const hidden = sites.length - maxSites;
  return hidden > 0 ? [...sites.slice(0, 2), `${hidden + 1} more`, ...sites.slice(1 - maxSites + 2)] : sites;
}

/** Max sites to name on the line about the chain. */
const maxSites = 6;

/**
 * Splits a site before dots and hyphens, where its lines may break. A line that begins with neither would look like a site.
 * Addresses stay whole, and so do names that are written from right to left, because pieces would change their order.
 */
export const pieces = (site: string) =>
  /[\u0590-\u08ff]|^[\d[]/.test(site) ? [site] : site.split(/(?=[.-])/);

/**
 * Splits a URL into the site, by default the registrable domain plus port, the text before it, and the text after it. Elides the rest after
 * 2,000 characters.
 *
 * @param isStruck whether the subdomain imitates another site.
 */
export function urlParts(url: string, given?: string, isStruck = false) {
  const parsed = parseUrl(url);
  const site = parsed && isWeb(parsed) ? (given ?? registrableDomain(parsed)) : '';
  // Use the parsed URL if the host is in Unicode or has escapes, because `site` is in ASCII.
  const text = parsed && !hostText(url).toLowerCase().includes(site) ? parsed.href : url;
  const [, before = '', host = '', rest = text] =
    (site && /^(https?:\/\/(?:[^/?#\\]*@)?)([^/?#\\]*)(.*)$/is.exec(text)) || [];
  const start = host.toLowerCase().lastIndexOf(site);
  const subdomain = host.slice(0, start);
  return {
    url: cut(url, maxShown.url),
    before: cut(before + (isStruck ? '' : subdomain), maxShown.before),
    struck: isStruck ? cut(subdomain, maxShown.before) : '',
    domain: pieces(cut(host.slice(start), maxShown.domain)),
    after: cut(rest, maxShown.after).split(/(?=[/?&#])/),
  };
}

function nextLink(u: string, { longUrl, error }: Expansion, { next }: Ending) {
  if (next === 'Try again') return [tryAgain(u, error?.rate?.wait)];
  return next && longUrl ? [link(next, exactly(longUrl))] : [];
}

const outLink = (label: string | undefined, href: string | null) =>
  label && href ? [{ label, href, isOut: true }] : [];

/** @param wait seconds until the link works. */
export const tryAgain = (u: string, wait?: number) => ({
  ...link('Try again', { ...exactly(u), again: '1' }),
  wait,
});

/** Returns parameters that make the page use `u` literally. */
const exactly = (u: string) => ({ u, ...(linksIn(u)[0] !== u && { exactly: '1' }) });

const link = (label: string, parameters: Record<string, string>) => ({
  label,
  href: `/?${new URLSearchParams(parameters)}`,
  isOut: false,
});

/** Returns a note for each host whose Unicode form could deceive. */
function hostNotes(urls: readonly (URL | null)[]) {
  const hosts = urls.filter((url) => url !== null).filter((url) => isWeb(url) && readableHost(url) === null);
  const notes = new Map(hosts.map((url) => [url.hostname, describeHost(url)]));
  return [...notes.values()].flatMap((host) => (host.unicodeHost ? [hostInWords(host)] : []));
}

/** Scripts with letters that look Latin. */
const imitating = ['Armenian', 'Coptic', 'Cyrillic', 'Georgian', 'Greek'];

function hostInWords({ unicodeHost, mixedScripts, imitates }: UnicodeHost) {
  const scripts = list(mixedScripts.map((script) => (script === 'Other' ? 'another script' : script)));
  const letters = list(
    imitating.filter((script) => RegExp(`\\p{Script=${script}}`, 'u').test(`${unicodeHost}`)),
  );
  return { unicodeHost, scripts, imitates, letters };
}

/** The application's name, also in `proxy/pages`. */
export const name = 'Where does it lead?';

/** Returns the document title: the hosts of `urls` and the application's name. The specification names the empty page. */
export function documentTitle(...urls: (string | null | undefined)[]): string {
  const hosts = new Set(urls.map((url) => parseUrl(url ?? '')?.host));
  const journey = [...hosts].filter(Boolean).join(' → ');
  return journey ? `${journey} · ${name}` : `${name} · Shorten URL Expand`;
}

/** Returns the `hop` view's data for the last hop. */
export function describeHop(hops: readonly Hop[]) {
  const hop = hops.at(-1) as Hop;
  const { kind, status, milliseconds, wrapper, location, url, cached, method, bytesRead } = hop;
  const next = kind && parseUrl(location ?? '', url);
  return {
    ...urlParts(url),
    number: hops.length,
    wrapper: wrapper ?? null,
    isUpgraded: kind === 'hsts',
    words: [
      `${status}, ${statusInWords(status ?? 0)}${bytesRead === undefined ? '' : ' (first part read)'}`,
      kind === 'refresh' && 'redirects with a Refresh header',
      kind === 'meta' && 'redirects with a meta refresh tag',
      cached && 'cached',
      bytesRead === undefined && method === 'GET' && 'requested with GET',
      duration(milliseconds),
    ]
      .filter(Boolean)
      .join(', '),
    /** The URL that the page waits for. */
    next: next ? cut(next.href) : null,
  };
}

/** Truncates a text to `max` characters. */
export const cut = (text: string, max = 120) => (text.length > max ? `${text.slice(0, max)}…` : text);
