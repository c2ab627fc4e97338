import { domainToUnicode } from 'node:url';
import { appOf } from '../expansion/apps.ts';
import { incompleteChain } from '../expansion/errors.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { isDocument, programIn } from '../expansion/file-kinds.ts';
import {
  describeHost,
  imitatedHost,
  nameInSubdomain,
  readableHost,
  registrableDomain,
  type UnicodeHost,
} from '../expansion/host.ts';
import { type Place, placeOf } from '../expansion/places.ts';
import { isWeb, parseUrl } from '../expansion/target.ts';
import { type Ending, endings, type Kind, type Warning } from './endings.ts';
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
  /** Fills the placeholders of a text, except those in `except`. */
  fill: (text: string) => string;
}

export interface Site {
  /** As in the URL: in ASCII, with the port. */
  ascii: string;
  /** As users read it: in Unicode unless the name could deceive. */
  name: string;
}

/** Judges an expansion by its end, its last host and its last page. */
export function judge(expansion: Expansion): Judgement {
  const { hops, longUrl, end } = expansion;
  const url = parseUrl(end.target ?? longUrl ?? '');
  const web = url && isWeb(url) ? url : null;
  const host = web && describeHost(web);
  const last = end.code === 'final' ? hops.at(-1) : undefined;
  const place = web && placeOf(web);
  const program = last?.file ? programIn(last.file) : null;
  const base = kindOf(expansion, url, place);
  const imitated = host && imitatedName(host);
  const disguise = web && nameInSubdomain(web);
  const kind = deceptiveKind(endings[base], host, imitated, disguise);
  const ending: Ending = kind
    ? { ...withoutTitle(endings[base]), ...careful(endings[base]), ...endings[kind] }
    : endings[base];
  // Only a page that opened has something to read or alter.
  const insecure = last && (last.status ?? 200) < 400 ? unencrypted(expansion) : null;
  const site = web && siteOf(web, ending.warning === 'anyone' ? place : null);
  const values: Record<string, string> = {
    SITE: site?.name ?? '',
    NAME: imitated ?? disguise ?? '',
    WHAT: program?.what ?? '',
    WHY: program?.reason ?? '',
    PROVIDER: place?.provider ?? '',
    APP: (url && appOf(url)) ?? '',
    SECONDS: `${last?.laterRefresh?.seconds ?? ''}`,
    TARGET: last?.laterRefresh?.url ?? '',
  };
  const fill = (text: string) =>
    text.replace(/\b(?:SITE|NAME|WHAT|WHY|PROVIDER|APP|SECONDS|TARGET)\b/g, (name) => values[name] ?? '');
  const isPlain = ending.verdict === 'Page found';
  return {
    ending:
      insecure && isPlain
        ? { ...withoutTitle(ending), ...careful(ending), verdict: 'Not encrypted' }
        : ending,
    warning: ending.warning ?? (insecure ? 'unencrypted' : null),
    reason: fill(ending.headline),
    ...{ url, host, site, disguise, program, fill },
    unencrypted: insecure,
  };
}

/** The fields of a judgement in API responses. */
export function verdictOf(expansion: Expansion) {
  const { warning, reason } = judge(expansion);
  return { end: expansion.end, reason, warning };
}

const careful = ({ open }: Ending) => open && ({ open: 'Open anyway' } as const);

const withoutTitle = ({ isTitled: _, ...ending }: Ending) => ending;

function imitatedName({ unicodeHost, imitates }: UnicodeHost): string | null {
  return imitates ?? imitatedHost(unicodeHost ?? '', /[0-9a-z-]/);
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
  const risk = 'anyone on the path can read and alter the traffic.';
  if (hosts.length > 0)
    return `${list(hosts)} redirect${hosts.length > 1 ? '' : 's'} from https to http, so ${risk}`;
  return /^http:/i.test(longUrl ?? '') ? risk : null;
}

function kindOf({ end, error, hops, redirectCount }: Expansion, url: URL | null, place: Place | null): Kind {
  if (end.code === 'unsupported_scheme' && !error) return url && appOf(url) ? 'app' : 'not_web';
  if (end.detail === incompleteChain) return 'incomplete_chain';
  if (end.code !== 'final') return end.reason ?? end.code;
  const last = hops.at(-1);
  const kind = pageKind(last);
  if (kind === 'file') return fileKind(last, place);
  if (endings[kind].verdict !== 'Page found' || kind === 'nothing') return kind;
  if (url && appOf(url)) return 'app';
  if (place) return 'anyone';
  return kind === 'found' && redirectCount === 0 ? 'direct' : kind;
}

const kindOfStatus: Record<number, Kind> = {
  ...{ 204: 'nothing', 205: 'nothing', 304: 'nothing', 404: 'gone', 410: 'gone' },
  ...{ 401: 'blocked', 403: 'blocked', 429: 'too_often', 451: 'blocked', 999: 'blocked' },
};

function pageKind(hop: Hop | undefined): Kind {
  const status = hop?.status ?? 200;
  const kind = kindOfStatus[status];
  // The website rejected HEAD, and GET did not complete.
  if (status >= 400 && hop?.interrupted && kind !== 'blocked') return 'down';
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
  return hop?.file && isDocument(hop.file) ? 'document' : 'file';
}
