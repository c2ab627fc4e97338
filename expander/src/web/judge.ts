import { domainToUnicode } from 'node:url';
import { appInWords, appOf } from '../expansion/apps.ts';
import { incompleteChain } from '../expansion/errors.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { containerIn, documentIn, programIn } from '../expansion/file-kinds.ts';
import {
  describeHost,
  imitatedHost,
  nameInSubdomain,
  readableHost,
  registrableDomain,
  type UnicodeHost,
} from '../expansion/host.ts';
import { isKnownWebsite, type KnownName, nameOf, nameUsedAt } from '../expansion/known-names.ts';
import { type Place, placeOf } from '../expansion/places.ts';
import { isWeb, parseUrl } from '../expansion/target.ts';
import { type Ending, endings, type Kind, tones, type Warning } from './endings.ts';
import { list } from './list.ts';

/** Where a link leads, and what to think of it. The page, the API and the command report the same. */
export interface Judgement {
  ending: Ending;
  warning: Warning | null;
  /** One sentence without a full stop, such as `It leads to example.com`. */
  reason: string;
  /** The last URL of the chain, or the target that was not requested. */
  url: URL | null;
  host: UnicodeHost | null;
  /** The site to show: a registrable domain or a place. Null unless `url` is on the web. */
  site: Site | null;
  /** The domain that the subdomain imitates. */
  disguise: string | null;
  program: ReturnType<typeof programIn>;
  /** Why the page is not encrypted. */
  unencrypted: string | null;
  /** Hosts that the texts can name. */
  named: readonly string[];
  /** Fills the placeholders of a text. */
  fill: (text: string) => string;
}

export interface Site {
  /** As in the URL: in ASCII, with the port. */
  ascii: string;
  /** As users read it: in Unicode unless the name could deceive. */
  name: string;
}

/** The kinds of results that somebody has published at a place. */
const publishedKinds: ReadonlySet<Kind> = new Set<Kind>(['anyone', 'anyone_file', 'posing']);

/** Judges an expansion by its end, its last host and its last page. */
export function judge(expansion: Expansion): Judgement {
  const { hops, longUrl, end } = expansion;
  const url = parseUrl(end.target ?? longUrl ?? '');
  const web = url && isWeb(url) ? url : null;
  const host = web && describeHost(web);
  const last = end.code === 'final' ? hops.at(-1) : undefined;
  const place = web && placeOf(web);
  const program = last?.file ? programIn(last.file) : null;
  const used = place && web ? nameUsedAt(place, web, last?.title ?? null) : null;
  const base = kindOf(expansion, url, place, used);
  const imitated = host && imitatedName(host);
  const disguise = web && nameInSubdomain(web);
  const kind = deceptiveKind(endings[base], host, imitated, disguise);
  const ending: Ending = kind ? { ...withoutTitle(endings[base]), ...endings[kind] } : endings[base];
  // Only what opened has something to read or change, and nobody should visit a page whose name deceives.
  const insecure = last && !kind && shownKinds.has(pageKind(last)) ? unencrypted(expansion) : null;
  const isPublished = !kind && publishedKinds.has(base);
  const site = web && siteOf(web, isPublished ? place : null);
  const home = imitated ?? disguise;
  const original = home ? { name: nameOf(home), home } : used;
  const fill = fillWith({
    SITE: site?.name,
    NAME: original?.name,
    HOME: original?.home,
    WHAT: last?.file && (program?.what ?? documentIn(last.file) ?? containerIn(last.file)),
    WHY: program?.reason,
    PROVIDER: place?.provider,
    APP: url && appInWords(url),
    SECONDS: last?.laterRefresh?.seconds,
    TARGET: last?.laterRefresh?.url,
  });
  return {
    ending: insecure ? withoutEncryption(ending) : ending,
    warning: ending.warning ?? (insecure ? 'unencrypted' : null),
    reason: fill(ending.headline),
    ...{ url, host, site, disguise, program, fill },
    unencrypted: insecure,
    named: [...hostsOf(hops), web?.host, site?.name, imitated, disguise, used?.home].filter(isText),
  };
}

const hostsOf = (hops: readonly Hop[]) => hops.map(({ url }) => new URL(url).host);

const isText = (name: string | null | undefined) => typeof name === 'string';

/** Returns a function that replaces the placeholders of a text by `values`. */
function fillWith(values: Record<string, string | number | null | undefined>) {
  const names = /\b(?:SITE|NAME|HOME|WHAT|WHY|PROVIDER|APP|SECONDS|TARGET)\b/g;
  return (text: string) => text.replace(names, (name) => `${values[name] ?? ''}`);
}

/** The fields of a judgement in API responses. */
export function verdictOf(expansion: Expansion) {
  const { warning, reason } = judge(expansion);
  return { end: expansion.end, reason, warning };
}

/** Returns the ending of an unencrypted result, whose verdict says so unless it is more serious. */
function withoutEncryption(ending: Ending): Ending {
  const isPlain = ending.verdict !== null && tones[ending.verdict] === 'plain';
  return isPlain ? { ...withoutTitle(ending), verdict: 'Not encrypted' } : ending;
}

const withoutTitle = ({ isTitled: _, ...ending }: Ending) => ending;

function imitatedName({ unicodeHost, imitates }: UnicodeHost): string | null {
  return imitates ?? (unicodeHost && imitatedHost(unicodeHost, /[0-9a-z-]/));
}

/** Returns the kind of a host whose name deceives, whether or not it responds. */
function deceptiveKind(
  { verdict }: Ending,
  host: UnicodeHost | null,
  imitated: string | null,
  disguise: string | null,
): Kind | null {
  if (!verdict || !host) return null;
  if (host.imitates || host.mixedScripts.length > 0) return imitated ? 'imitates' : 'mixes';
  return disguise && verdict !== 'Beware' ? 'subdomain' : null;
}

function siteOf(url: URL, place: Place | null): Site {
  const domain = place?.site ?? registrableDomain(url);
  const port = url.port && `:${url.port}`;
  return {
    ascii: domain + port,
    name: (readableHost(url) === null ? domain : domainToUnicode(domain)) + port,
  };
}

/**
 * Explains why a link is not encrypted: its last URL is http, or a hop redirects from https to http. Ignores redirects from
 * http to https, because people often omit the scheme.
 */
function unencrypted({ hops, longUrl }: Expansion): string | null {
  const hosts = hops.filter(({ downgrade }) => downgrade).map(({ url }) => new URL(url).host);
  const risk = 'strangers in the same Wi-Fi, for example, can read and change what you see and type.';
  if (hosts.length > 0)
    return `${list(hosts)} switch${hosts.length > 1 ? '' : 'es'} to a connection without encryption, so ${risk}`;
  return /^http:/i.test(longUrl ?? '') ? risk : null;
}

/**
 * Returns the kind of a result. The first match decides: why nothing opened, then a file or an error page, then an app or a place
 * where anyone can publish.
 */
function kindOf(
  { end, error, hops, redirectCount }: Expansion,
  url: URL | null,
  place: Place | null,
  used: KnownName | null,
): Kind {
  if (end.code === 'unsupported_scheme' && !error) return url && appOf(url) ? 'app' : 'not_web';
  if (end.detail === incompleteChain) return 'incomplete_chain';
  if (end.code !== 'final') return end.reason ?? end.code;
  const last = hops.at(-1);
  const kind = pageKind(last);
  if (kind === 'file') return fileKind(last, place);
  if (!shownKinds.has(kind)) return kind;
  if (url && appOf(url)) return 'app';
  if (place) return used ? 'posing' : 'anyone';
  if (kind === 'sends_on' && url && isKnownWebsite(url)) return 'known_script';
  return kind === 'found' && redirectCount === 0 ? 'direct' : kind;
}

/** The kinds of pages and files that a browser shows or saves. */
const shownKinds: ReadonlySet<Kind> = new Set<Kind>(['file', 'found', 'partly', 'cut', 'later', 'sends_on']);

const kindOfStatus: Record<number, Kind> = {
  ...{ 204: 'nothing', 205: 'nothing', 304: 'nothing', 404: 'gone', 410: 'gone' },
  ...{ 401: 'blocked', 403: 'blocked', 429: 'too_often', 451: 'blocked', 999: 'blocked' },
};

function pageKind(hop: Hop | undefined): Kind {
  const status = hop?.status ?? 200;
  const kind = kindOfStatus[status];
  // The website rejected HEAD, and GET did not complete.
  if (status >= 400 && hop?.interrupted && kind !== 'blocked') return 'unread';
  if (kind) return kind;
  if (status >= 400) return status < 500 ? 'rejected' : 'down';
  if (hop?.interrupted) return hop.bytesRead ? 'cut' : 'unread';
  if (hop?.file) return 'file';
  if (hop?.laterRefresh && opensAnother(hop, hop.laterRefresh.url)) return 'later';
  if (hop?.scriptRedirect) return 'sends_on';
  return hop?.incomplete ? 'partly' : 'found';
}

/** Whether a refresh opens another page, unlike the refresh of a news page, which loads the page itself again. */
const opensAnother = ({ url }: Hop, target: string) => target !== '' && target !== parseUrl(url)?.href;

function fileKind(hop: Hop | undefined, place: Place | null): Kind {
  if (hop?.file && programIn(hop.file)) return 'program';
  if (place) return 'anyone_file';
  return hop?.file && documentIn(hop.file) ? 'document' : 'file';
}
