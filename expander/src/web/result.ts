import type { Expansion, Hop } from '../expansion/expansion.ts';
import { describeHost, nameInSubdomain, registrableDomain, type UnicodeHost } from '../expansion/host.ts';
import { hostText, isWeb, parseUrl } from '../expansion/target.ts';
import { type Ending, endingOf, tones, unencrypted } from './endings.ts';
import { linksIn } from './pasted.ts';
import { withoutTracking } from './tracking-parameters.ts';
import { duration, journey, lastStatus, list, sizeInWords, statusInWords, summary } from './wording.ts';

/** Returns the `result` view's data. The view omits null and empty values. */
export function describeResult(u: string, expansion: Expansion) {
  const { hops, longUrl, end, error } = expansion;
  const begun = hops.length > 0;
  const url = parseUrl(end.target ?? longUrl ?? '');
  const host = url && isWeb(url) ? describeHost(url) : null;
  const ending = endingOf(expansion, host);
  const { verdict, headline, advice, open } = ending;
  const { sentence = end.code === 'final' ? lastStatus(expansion) : end.message } = ending;
  const original = begun || verdict ? (end.target ?? longUrl) : null;
  const { cleaned, parameters } = withoutTracking(open ? (original ?? '') : '');
  const isTracked = parameters.length > 0;
  const destination = isTracked ? cleaned : original;
  const shown = destination ? urlParts(destination) : null;
  const [before = '', after] = headline.split('SITE');
  const last = end.code === 'final' ? hops.at(-1) : undefined;
  const stop = ending.stop ?? error?.message;
  const said = headline.replace('SITE', () => shown?.domain ?? '');
  return {
    begun,
    verdict,
    tone: verdict && tones[verdict],
    headline: { before, after: (shown && after) ?? null },
    destination: shown,
    file: last?.file
      ? { ...last.file, size: last.file.size === null ? null : sizeInWords(last.file.size) }
      : null,
    unencrypted: open || hops.some(({ downgrade }) => downgrade) ? unencrypted(expansion) : null,
    hosts: hostNotes(hops, host),
    /** Name of another website that the subdomain imitates. */
    disguise: url && host ? nameInSubdomain(url) : null,
    title: last?.title ?? null,
    /** Links below the URL. A script adds the Copy and Share buttons for `copy`. */
    actions: {
      copy: destination
        ? { url: destination, what: isTracked ? 'the URL without tracking' : 'the long URL' }
        : null,
      links: [...nextLink(u, expansion, ending), ...outLink(open, destination)],
    },
    sentences: [journey(expansion), sentence, summary(expansion)].filter(Boolean).join(' '),
    advice: (typeof advice === 'function' ? url && advice(url) : advice) ?? null,
    detail: end.detail ?? null,
    /** The last URL of the chain and the reason why it has no response. Null if the last URL has a response. */
    stop:
      begun && original && stop
        ? { ...urlParts(original), number: hops.length + 1, hidden: hiddenHops(hops), reason: stop }
        : null,
    tracking: isTracked
      ? {
          original: urlParts(original ?? ''),
          parameters,
          actions: {
            copy: { url: original ?? '', what: 'the original URL' },
            links: outLink('Open original', original),
          },
        }
      : null,
    /** Text for screen readers. */
    announcement: (verdict === 'Page found' ? [said, summary(expansion)] : [verdict, said, sentence])
      .filter(Boolean)
      .join('. '),
    documentTitle: documentTitle(hops[0]?.url, original),
  };
}

/** Max characters of a URL on the page, which shows up to 20 URLs of 16 KiB. A domain has 253, and its port may have zeros. */
const maxShown = { url: 2_000, before: 500, domain: 300, after: 1_200 };

/** Splits a URL into the registrable domain plus port, the text before it, and the text after it. Elides the rest after 2,000 characters. */
export function urlParts(url: string) {
  const parsed = parseUrl(url);
  const site = parsed && isWeb(parsed) ? registrableDomain(parsed) : '';
  // Use the parsed URL if the host is in Unicode or has escapes, because `site` is in ASCII.
  const text = parsed && !hostText(url).toLowerCase().includes(site) ? parsed.href : url;
  const [, before = '', host = '', rest = text] =
    (site && /^(https?:\/\/(?:[^/?#\\]*@)?)([^/?#\\]*)(.*)$/is.exec(text)) || [];
  const start = host.toLowerCase().lastIndexOf(site);
  const domain = cut(host.slice(start), maxShown.domain);
  return {
    url: cut(url, maxShown.url),
    before: cut(before + host.slice(0, start), maxShown.before),
    domain,
    size: sizeOf(domain),
    after: cut(rest, maxShown.after).split(/(?=[/?&#])/),
  };
}

/** Returns the CSS class for a long site. A 320-pixel line holds 20 characters, or 30 with the class `small`. */
function sizeOf({ length }: string) {
  if (length <= 20) return null;
  return length <= 30 ? 'small' : 'smallest';
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

/** Returns a note for each host in Unicode. */
function hostNotes(hops: readonly Hop[], destination: UnicodeHost | null) {
  const hosts = new Map([...hops, destination].map((host) => [host?.unicodeHost, host]));
  return [...hosts.values()].flatMap((host) => (host?.unicodeHost ? [hostInWords(host)] : []));
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

/** Returns the document title: the hosts of `urls` and the application's name. */
export function documentTitle(...urls: (string | null | undefined)[]): string {
  const hosts = new Set(urls.map((url) => parseUrl(url ?? '')?.host));
  return [[...hosts].filter(Boolean).join(' → '), 'Shorten URL Expand'].filter(Boolean).join(' · ');
}

/** Returns the `hop` view's data for the last hop. */
export function describeHop(hops: readonly Hop[]) {
  const hop = hops.at(-1) as Hop;
  const { kind, status, milliseconds, wrapper, location, url, cached, method, bytesRead } = hop;
  const next = kind && parseUrl(location ?? '', url);
  const isHidden = isInside(hop, hops.length - 1, hops);
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
    /** Whether the page hides this hop once the chain is complete. */
    isHidden,
    hidden: isHidden ? null : hiddenHops(hops.slice(0, -1)),
  };
}

/** Truncates a text to `max` characters. */
export const cut = (text: string, max = 120) => (text.length > max ? `${text.slice(0, max)}…` : text);

/** Whether a hop is neither the first URL of a site nor the end of the chain. */
const isInside = ({ kind }: Hop, index: number, hops: readonly Hop[]) =>
  kind !== null && hops[index - 1]?.domainChanged === false;

/** Returns the number of hidden hops at the end of `hops`, such as `3 more at example.net`. */
function hiddenHops(hops: readonly Hop[]): string | null {
  const count = hops.length - 1 - hops.findLastIndex((hop, index) => !isInside(hop, index, hops));
  return count > 0 ? `${count} more at ${registrableDomain(new URL(hops.at(-1)?.url ?? ''))}` : null;
}
