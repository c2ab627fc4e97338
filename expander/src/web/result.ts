import { appOf } from '../expansion/apps.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { splitName } from '../expansion/file-kinds.ts';
import { describeHost, readableHost, registrableDomain, type UnicodeHost } from '../expansion/host.ts';
import { hostText, isWeb, parseUrl } from '../expansion/target.ts';
import { type Ending, openLabel, tones } from './endings.ts';
import { hostPieces, withHosts } from './host-pieces.ts';
import { type Judgement, judge } from './judge.ts';
import { list } from './list.ts';
import { linksIn } from './pasted.ts';
import { withoutTracking } from './tracking-parameters.ts';
import { duration, errorStatus, sizeInWords, statusInWords, summary } from './wording.ts';

/** Returns the `result` view's data. The view omits null and empty values. */
export function describeResult(u: string, expansion: Expansion) {
  const judgement = judge(expansion);
  const { ending, warning, url, site, unencrypted, named } = judgement;
  const { hops, end, longUrl } = expansion;
  const begun = hops.length > 0;
  const last = lastPage(expansion);
  const shown = shownUrls(expansion, judgement);
  const title = titleOf(expansion, ending);
  const words = wordsOf(expansion, judgement);
  return {
    begun,
    verdict: ending.verdict,
    tone: ending.verdict && tones[ending.verdict],
    headline: title.isHeadline
      ? { title: title.text, lines: [], after: '' }
      : { title: null, ...headlineOf(judgement, shown.original) },
    site: site ? hostPieces(site.name) : [],
    siteName: site?.name ?? null,
    destination: shown.destination ? urlParts(shown.destination, site?.ascii, warning === 'subdomain') : null,
    file: last?.file ? describeFile(last.file, judgement.program) : null,
    unencrypted: unencrypted && withHosts(unencrypted, named),
    /** Whether users read the host in other letters than those of the URL. */
    isTranscribed: url !== null && isWeb(url) && readableHost(url) !== null,
    hosts: hostNotes([...hops.map((hop) => new URL(hop.url)), url]),
    title: title.isHeadline ? null : title.text,
    actions: actionsOf(u, expansion, judgement, shown),
    sentences: [words.sentence, words.advice].filter(Boolean).map((text) => withHosts(`${text}`, named)),
    detail: end.detail ?? null,
    summary: summary(expansion),
    journey: begun ? journey(hops, end.target ?? longUrl) : null,
    stop: begun ? stopOf(expansion, ending, shown.original) : null,
    tracking: trackingOf(shown),
    announcement: announcementOf(expansion, judgement, { title, words }),
    documentTitle: documentTitle(hops[0]?.url, shown.original),
  };
}

/** Returns the hop that reached a page, if any. */
const lastPage = ({ end, hops }: Expansion): Hop | undefined =>
  end.code === 'final' ? hops.at(-1) : undefined;

interface ShownUrls {
  /** The URL at the end of the chain. */
  original: string | null;
  /** The same without tracking. */
  destination: string | null;
  isTracked: boolean;
  /** The names of the tracking parameters. */
  parameters: ReturnType<typeof withoutTracking>['parameters'];
}

function shownUrls({ hops, end, longUrl }: Expansion, { ending, site }: Judgement): ShownUrls {
  const original = hops.length > 0 || ending.verdict ? (end.target ?? longUrl) : null;
  const isOpened = openLabel(ending) && site;
  const { cleaned, parameters } = withoutTracking(isOpened ? (original ?? '') : '');
  const isTracked = parameters.length > 0;
  return { original, destination: isTracked ? cleaned : original, isTracked, parameters };
}

interface Title {
  text: string | null;
  isHeadline: boolean;
}

function titleOf(expansion: Expansion, ending: Ending): Title {
  const text = lastPage(expansion)?.title ?? null;
  return { text, isHeadline: ending.isTitled === true && text !== null };
}

interface Words {
  sentence: string | null;
  advice: string | null;
}

/** Returns the sentences below the headline. */
function wordsOf(expansion: Expansion, { ending, fill }: Judgement): Words {
  const last = lastPage(expansion);
  const own = last ? errorStatus(last) : sentenceOf(ending, expansion.end.message);
  return {
    sentence: ending.sentence ? fill(ending.sentence) : own,
    advice: ending.advice ? fill(ending.advice) : null,
  };
}

/** Returns the links below the URL. A script adds the Copy and Share buttons for `copy`. */
function actionsOf(
  u: string,
  expansion: Expansion,
  judgement: Judgement,
  { destination, isTracked }: ShownUrls,
) {
  const { ending } = judgement;
  return {
    copy: destination ? copyButton(u, destination, isTracked, judgement) : null,
    links: [...nextLink(u, expansion, ending), ...outLink(openLabel(ending), destination)],
  };
}

/** Returns the last URL of the chain and the reason why it has no response. Null if it has a response. */
function stopOf({ hops, error }: Expansion, ending: Ending, original: string | null) {
  const reason = ending.stop ?? error?.message;
  return original && reason ? { ...urlParts(original), number: hops.length + 1, reason } : null;
}

function trackingOf({ original, isTracked, parameters }: ShownUrls) {
  if (!isTracked) return null;
  return {
    original: urlParts(original ?? ''),
    parameters,
    summary:
      parameters.length > 1
        ? `Opens without ${parameters.length} parts that only help to track you.`
        : 'Opens without a part that only helps to track you.',
    actions: {
      copy: { text: original ?? '', what: 'the original URL', label: 'Copy' },
      links: outLink('Open original', original),
    },
  };
}

/** Returns what screen readers announce. */
function announcementOf(
  expansion: Expansion,
  { ending: { verdict }, reason, site }: Judgement,
  { title, words }: { title: Title; words: Words },
): string {
  const said = title.isHeadline ? `${title.text}. It leads to ${site?.name}` : reason;
  const texts =
    verdict === 'Page found'
      ? [said, words.advice, summary(expansion)]
      : [verdict, said, words.sentence, words.advice];
  return texts
    .filter(Boolean)
    .map((text) => `${text}`.replace(/\.$/, ''))
    .join('. ');
}

/** Maximum characters of a URL on the page, which shows up to 20 URLs of 16 KiB. A domain has 253, and its port may have zeros. */
const maxShown = { url: 2_000, before: 500, domain: 300, after: 1_200 };

/** Returns the error message, unless the ending says the same. */
const sentenceOf = ({ verdict, headline }: Ending, message: string) =>
  verdict === 'Opens an app' || headline === message ? '' : message;

/** Splits the headline at the site. `after` is null if the headline names no site. */
function headlineOf({ ending, fill, site, named }: Judgement, original: string | null) {
  const [before = '', after = null] = ending.headline.split('SITE');
  // Each sentence has its own line.
  const lines = before.split(/(?<=\.) /).map((line) => withHosts(fill(line), named));
  return { lines, after: site && original && after !== null ? fill(after) : null };
}

function describeFile({ name, size }: NonNullable<Hop['file']>, program: Judgement['program']) {
  const parts = program ? splitName(name) : { stem: name, extension: '' };
  return { ...parts, size: size === null ? null : sizeInWords(size), looksLike: program?.looksLike ?? null };
}

/**
 * Returns the text that the Copy button copies: a warning if the verdict is red, for others who received the link. A warning has
 * no clickable names, because nobody should open them by accident.
 */
function copyButton(u: string, destination: string, isTracked: boolean, { ending, reason }: Judgement) {
  if (ending.verdict && tones[ending.verdict] === 'red') {
    const text = `Beware of ${defanged(cut(u))}. ${defanged(reason)}.`;
    return { text, what: '', label: 'Copy as a warning' };
  }
  return { text: destination, what: isTracked ? 'the URL without tracking' : 'the long URL', label: 'Copy' };
}

const defanged = (text: string) => text.replace(/\.(?=\S)/g, '[.]').replace(/^http/i, 'hxxp');

/** Returns the hosts of a chain in order, such as `bit.ly` and `nytimes.com`, and in words what is not on the web. */
function journey(hops: readonly Hop[], end: string | null) {
  const hosts = [...hops.map(({ url }) => url), end ?? ''].map((url) => {
    const parsed = parseUrl(url);
    if (!parsed) return null;
    if (isWeb(parsed)) return readableHost(parsed) ?? parsed.host;
    return (
      appOf(parsed) ?? (parsed.protocol === 'javascript:' ? 'a script' : 'something else than a web page')
    );
  });
  const sites = hosts.filter((host, index) => host !== null && host !== hosts[index - 1]) as string[];
  const hidden = sites.length - maxSites;
  const shown =
    hidden > 0 ? [...sites.slice(0, 2), `${hidden + 1} more`, ...sites.slice(1 - maxSites + 2)] : sites;
  return shown.map(hostPieces).flatMap((host, index) => {
    const site = { before: index > 0 ? '→ ' : '', host, after: '' };
    return index > 0 ? [{ before: ' ', host: [], after: '' }, site] : [site];
  });
}

/** Maximum sites to name on the line about the chain. */
const maxSites = 6;

/**
 * Splits the path and query of a URL where its lines may break: after a slash, and before a parameter. A long name also breaks
 * before its last character, which keeps the slash company.
 */
function pathPieces(text: string): string[] {
  const pieces = text.split(/(?<=\/)(?!\/)|(?=[?&#])/);
  return pieces.flatMap((piece) => (piece.length > 20 ? piece.split(/(?=[^/]\/$)/u) : [piece]));
}

/**
 * Splits a URL into the site, by default the registrable domain plus port, the subdomain, the text before both, and the text
 * after them. Elides the rest after 2,000 characters.
 *
 * @param isStruck whether the subdomain imitates another site.
 */
export function urlParts(url: string, given?: string, isStruck = false) {
  const parsed = parseUrl(url);
  const site = parsed && isWeb(parsed) ? (given ?? registrableDomain(parsed)) : '';
  // Use the parsed URL if the host is in Unicode or has escapes, because `site` is in ASCII.
  const text = parsed && !hostText(url).toLowerCase().includes(site) ? parsed.href : url;
  const [, before = '', host = '', slash = '', rest = text] =
    (site && /^(https?:\/\/(?:[^/?#\\]*@)?)([^/?#\\]*)(\/?)(.*)$/is.exec(text)) || [];
  const start = host.toLowerCase().lastIndexOf(site);
  return {
    url: cut(url, maxShown.url),
    before: cut(before, maxShown.before),
    subdomain: hostPieces(cut(host.slice(0, start), maxShown.domain)),
    isStruck,
    domain: hostPieces(cut(host.slice(start), maxShown.domain)),
    /** Stays beside the host. */
    slash,
    after: pathPieces(cut(rest, maxShown.after)),
  };
}

function nextLink(u: string, { longUrl, error }: Expansion, { next }: Ending) {
  if (next === 'Try again') return [tryAgain(u, error?.rate?.wait)];
  return next && longUrl ? [link(next, exactly(longUrl))] : [];
}

const outLink = (label: string | null, href: string | null) =>
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
