import type { Expansion, Hop } from '../expansion/expansion.ts';
import { describeHost, registrableDomain, type UnicodeHost } from '../expansion/host.ts';
import { parseUrl } from '../expansion/parse-url.ts';
import { journey } from './journey.ts';
import { understandPasted } from './pasted.ts';
import { withoutTracking } from './tracking-parameters.ts';
import { type Verdict, verdict, verdictWords } from './verdict.ts';
import { advice, explanation, headline, isUnknownName, list, openEnd, summary, works } from './wording.ts';

/** What to do with a URL. */
export interface Actions {
  /** Copied by the first button if `careful`, else by the last one; null for none. */
  copy: { url: string; what: string } | null;
  careful: boolean;
  links: { label: string; href: string; isOut: boolean }[];
}

/** Ends whose URL a visitor may want to open. */
const worthOpening = new Set(['final', 'max_redirects', 'no_location', 'request_failed', 'timeout']);

/** Ends that say nothing about the link and soon pass. */
const busy = new Set(['overloaded', 'rate_limited']);

/** What the page shows of the expansion of `u`; nothing where a value is null or empty. */
export function describeAnswer(u: string, expansion: Expansion) {
  const { hops, longUrl, end } = expansion;
  const begun = hops.length > 0;
  const url = parseUrl(end.target ?? longUrl ?? '');
  const host = url && hostInWords(describeHost(url));
  const kind = verdict(expansion, Boolean(host?.scripts || host?.imitates));
  const destination = begun || kind ? (end.target ?? longUrl) : null;
  const careful = kind !== 'works';
  const opens = url && worthOpening.has(end.code) && !isUnknownName(expansion) ? destination : null;
  const tracking = opens ? withoutTracking(opens) : null;
  const reason = openEnd(expansion);
  return {
    begun,
    verdict: kind && { kind, words: verdictWords[kind] },
    headline: headline(expansion),
    destination,
    host,
    /** That of the page that was found: a stranger's words. */
    title: (end.code === 'final' && hops.at(-1)?.title) || null,
    actions: {
      copy: destination ? { url: destination, what: 'the long URL' } : null,
      careful,
      links: [...waysOn(u, expansion, kind), ...(opens ? [open(opens, careful)] : [])],
    },
    sentences: [journey(expansion), explanation(expansion), begun ? summary(expansion) : '']
      .filter(Boolean)
      .join(' '),
    advice: advice(expansion) ?? null,
    /** The last URL of the chain, if it has no answer, and why. */
    stop: begun && destination && reason ? { url: destination, reason } : null,
    tracking: tracking?.parameters.length
      ? { ...tracking, actions: cleanedActions(tracking, careful) }
      : null,
    /** What holds for every request of the chain, said once. */
    common: commonFacts(expansion),
    announcement: announcement(expansion, kind, url),
    documentTitle: documentTitle(hops[0]?.url, destination),
  };
}

/** What to do within this page where the link does not work. */
function waysOn(u: string, expansion: Expansion, kind: Verdict | null) {
  const { end, longUrl } = expansion;
  if (end.code === 'max_redirects' && longUrl) return [link('Follow on from here', exactly(longUrl))];
  const mayPass = kind === 'failing' || isUnknownName(expansion) || busy.has(end.code);
  return mayPass ? tryAgain(u).links : [];
}

function open(href: string, careful: boolean) {
  return { label: careful ? 'Open anyway' : 'Open it', href, isOut: true };
}

/** What a screen reader says: the host stands for the whole URL. */
function announcement(expansion: Expansion, kind: Verdict | null, url: URL | null): string {
  const words = kind && kind !== 'works' ? `${verdictWords[kind]}. ` : '';
  const heading = headline(expansion);
  if (works(expansion)) return `${words}${heading}: ${url?.host}. ${summary(expansion)}`;
  return `${words}${heading}. ${explanation(expansion)}`;
}

function cleanedActions({ cleaned }: { cleaned: string }, careful: boolean): Actions {
  const links = [{ label: 'Open without tracking', href: cleaned, isOut: true }];
  return { copy: { url: cleaned, what: 'the URL without tracking' }, careful, links };
}

/** What there is to do where nothing is known of a URL. */
export function tryAgain(u: string): Actions {
  return { copy: null, careful: true, links: [link('Try again', { ...exactly(u), again: '1' })] };
}

/** The parameters of the page for `u` itself, whatever it looks like. */
const exactly = (u: string) => ({ u, ...(understandPasted(u) !== u && { exactly: '1' }) });

function link(label: string, parameters: Record<string, string>) {
  return { label, href: `/?${new URLSearchParams(parameters)}`, isOut: false };
}

/** What `host.eta` shows of a host. */
export function hostInWords({ unicodeHost, mixedScripts, imitates }: UnicodeHost) {
  const scripts = list(mixedScripts.map((script) => (script === 'Other' ? 'another script' : script)));
  return { unicodeHost, scripts, imitates };
}

/** The hosts of `urls`, in their order, and the name of the application. */
export function documentTitle(...urls: (string | null | undefined)[]): string {
  const hosts = new Set(urls.map((url) => parseUrl(url ?? '')?.host));
  return [[...hosts].filter(Boolean).join(' → '), 'Shorten URL Expand'].filter(Boolean).join(' · ');
}

/** The site that a hop leads to, if that is another one. */
export function newSite({ domainChanged, location, url }: Hop): string | null {
  const next = domainChanged ? parseUrl(location ?? '', url) : null;
  return next && registrableDomain(next);
}

/** How a hop was requested. */
export function requestFacts({ tls, addressFamily, cached }: Hop) {
  return [
    { fact: 'encryption', words: tls ? 'encrypted (TLS)' : 'not encrypted' },
    { fact: 'family', words: addressFamily ? `IPv${addressFamily}` : '' },
    { fact: 'cached', words: cached ? 'cached' : '' },
  ].filter(({ words }) => words !== '');
}

/** The facts that several requests share; null if they share none. The summary says that a whole expansion is cached. */
function commonFacts({ hops, cached }: Expansion) {
  const [first = [], ...others] = hops.filter(({ status }) => status !== null).map(requestFacts);
  if (others.length === 0) return null;
  const shared = first.filter(({ words }) =>
    others.every((facts) => facts.some((fact) => fact.words === words)),
  );
  const said = shared.filter(({ fact }) => !(cached && fact === 'cached')).map(({ words }) => words);
  return said.length > 0 ? { facts: shared.map(({ fact }) => fact).join(' '), words: said.join(', ') } : null;
}
