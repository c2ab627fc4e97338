import type { Expansion, Hop } from '../expansion/expansion.ts';
import { describeHost, registrableDomain, type UnicodeHost } from '../expansion/host.ts';
import { parseUrl } from '../expansion/parse-url.ts';
import { type Ending, endingOf, tones } from './endings.ts';
import { linksIn } from './pasted.ts';
import { withoutTracking } from './tracking-parameters.ts';
import { duration, journey, lastStatus, list, sizeInWords, statusInWords, summary } from './wording.ts';

interface Link {
  label: string;
  href: string;
  isOut: boolean;
  /** Seconds before it works. */
  wait?: number | undefined;
}

/** What to do with a URL. A script adds buttons to copy and share it. */
export interface Actions {
  copy: { url: string; what: string } | null;
  links: Link[];
}

/** What the page shows of the expansion of `u`; nothing where a value is null or empty. */
export function describeResult(u: string, expansion: Expansion) {
  const { hops, longUrl, redirectCount, end, error } = expansion;
  const begun = hops.length > 0;
  const url = parseUrl(end.target ?? longUrl ?? '');
  const host = url && describeHost(url);
  const ending = endingOf(expansion, host);
  const { verdict, advice, open } = ending;
  const headline = (redirectCount === 0 && ending.direct) || ending.headline;
  const place = end.code === 'final' ? `${headline}: ${url?.host}` : headline;
  const { sentence = end.code === 'final' ? lastStatus(expansion) : end.message } = ending;
  const original = begun || verdict ? (end.target ?? longUrl) : null;
  const { cleaned, parameters } = withoutTracking(open ? (original ?? '') : '');
  const isTracked = parameters.length > 0;
  const destination = isTracked ? cleaned : original;
  const last = end.code === 'final' ? hops.at(-1) : undefined;
  const stop = ending.stop ?? error?.message;
  return {
    begun,
    verdict: verdict && { words: verdict, tone: tones[verdict] },
    headline,
    destination,
    file: last?.file
      ? { ...last.file, size: last.file.size === null ? null : sizeInWords(last.file.size) }
      : null,
    notes: notesOn(hops, host),
    /** That of the page that was found: a stranger's words. */
    title: last?.title ?? null,
    actions: {
      copy: destination
        ? { url: destination, what: isTracked ? 'the URL without tracking' : 'the long URL' }
        : null,
      links: [...nextLink(u, expansion, ending), ...outLink(open, destination)],
    } satisfies Actions,
    sentences: [journey(expansion), sentence, begun ? summary(expansion) : ''].filter(Boolean).join(' '),
    advice: (typeof advice === 'function' ? url && advice(url) : advice) ?? null,
    /** For experts. */
    detail: end.detail ?? null,
    /** Whether the last hops are folded. */
    leaves: stays(hops.at(-2)),
    /** The last URL of the chain, if it has no response, and why. */
    stop: begun && original && stop ? { url: original, reason: stop } : null,
    tracking: isTracked
      ? {
          original,
          parameters,
          actions: {
            copy: { url: original ?? '', what: 'the original URL' },
            links: outLink('Open original', original),
          } satisfies Actions,
        }
      : null,
    /** What a screen reader says: the host stands for the whole URL. */
    announcement:
      verdict === 'Page found'
        ? `${place}. ${summary(expansion)}`
        : [verdict, place, sentence].filter(Boolean).join('. '),
    documentTitle: documentTitle(hops[0]?.url, original),
  };
}

/** What to do within this page. */
function nextLink(u: string, { longUrl, error }: Expansion, { next }: Ending): Link[] {
  if (next === 'Try again') return [tryAgain(u, error?.rate?.wait)];
  return next && longUrl ? [link(next, exactly(longUrl))] : [];
}

function outLink(label: string | undefined, href: string | null): Link[] {
  return label && href ? [{ label, href, isOut: true }] : [];
}

/** @param wait seconds before it makes sense. */
export function tryAgain(u: string, wait?: number): Link {
  return { ...link('Try again', { ...exactly(u), again: '1' }), wait };
}

/** The parameters of the page for `u` itself, whatever it looks like. */
const exactly = (u: string) => ({ u, ...(linksIn(u)[0] !== u && { exactly: '1' }) });

function link(label: string, parameters: Record<string, string>): Link {
  return { label, href: `/?${new URLSearchParams(parameters)}`, isOut: false };
}

/** What is wrong on the way, or could mislead, each said once. */
function notesOn(hops: readonly Hop[], destination: UnicodeHost | null) {
  const hosts = new Map([...hops, destination].map((host) => [host?.unicodeHost, host]));
  return {
    unencrypted: hops.filter(({ downgrade }) => downgrade).map(({ url }) => new URL(url).host),
    hosts: [...hosts.values()].flatMap((host) => (host?.unicodeHost ? [hostInWords(host)] : [])),
  };
}

function hostInWords({ unicodeHost, mixedScripts, imitates }: UnicodeHost) {
  const scripts = list(mixedScripts.map((script) => (script === 'Other' ? 'another script' : script)));
  return { unicodeHost, scripts, imitates };
}

/** The hosts of `urls`, in their order, and the name of the application. */
export function documentTitle(...urls: (string | null | undefined)[]): string {
  const hosts = new Set(urls.map((url) => parseUrl(url ?? '')?.host));
  return [[...hosts].filter(Boolean).join(' → '), 'Shorten URL Expand'].filter(Boolean).join(' · ');
}

/** What the page shows of the last one of `hops`. */
export function describeHop(hops: readonly Hop[]) {
  const hop = hops.at(-1) as Hop;
  const { kind, status, milliseconds, wrapper, location, url, cached, method, bytesRead } = hop;
  const next = kind && parseUrl(location ?? '', url);
  return {
    url,
    wrapper: wrapper ?? null,
    words: [
      `${status}, ${statusInWords(status ?? 0)}`,
      kind === 'refresh' && 'redirects with a Refresh header',
      kind === 'meta' && 'redirects with a meta refresh tag',
      cached && 'cached',
      bytesRead !== undefined ? 'beginning read' : method === 'GET' && 'requested with GET',
      duration(milliseconds),
    ]
      .filter(Boolean)
      .join(', '),
    /** The URL that is requested next, which is shown while it is waited for. */
    next: next ? cut(next.href) : null,
    /** Several hops within one site are folded: its name where they begin. */
    enters: stays(hops.at(-2)) && !stays(hops.at(-3)) ? registrableDomain(new URL(url)) : null,
    leaves: !stays(hops.at(-2)) && stays(hops.at(-3)),
    /** Whether it stays open for the hops that are folded into it. */
    holds: stays(hop) && !stays(hops.at(-2)),
  };
}

/** The beginning of a URL that is shown whole elsewhere. */
export const cut = (url: string) => (url.length > 120 ? `${url.slice(0, 120)}…` : url);

/** Whether a hop leads to its own site. */
const stays = (hop: Hop | undefined) => hop !== undefined && hop.kind !== null && !hop.domainChanged;
