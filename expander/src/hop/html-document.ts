import { legacyHookDecode } from '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';
import sniffEncoding from 'html-encoding-sniffer';
import type { HopResponse, Refresh } from '../expansion/expansion.ts';
import { parseUrl } from '../expansion/target.ts';
import { readPolicies } from './content-security-policy.ts';
import { headLength } from './head-length.ts';
import { type HtmlFacts, type MetaRefresh, readable, readHtml } from './meta-refresh.ts';
import type { ResponseHead } from './response-head.ts';
import { shownAs } from './shown.ts';

/** Maximum delay of a refresh in seconds. A page with a longer delay ends the chain, because visitors start reading it. */
export const maxDelay = 15;

/** Maximum delay to report, in seconds: a day. No visitor waits longer. */
const longestDelay = 86_400;

/** Maximum characters of a title. */
const maxTitle = 120;

/**
 * Interprets the response for `url` like a browser: how it is displayed (`shown`), where it redirects (`refresh`), and whether
 * parsing stopped at a limit (`isCut`).
 *
 * @param body the start of the body; empty if unknown.
 */
export function readDocument(url: URL, head: ResponseHead, body: Buffer) {
  const shown = shownAs(head, body);
  if (shown === 'file' || shown === 'nothing')
    return {
      shown,
      refresh: null,
      later: null,
      title: null,
      scriptRedirect: false,
      referrerPolicy: null,
      isCut: false,
    };
  const encoding = encodingOf(head, body, shown === 'xml');
  const facts = readHtml(shown === 'other' ? '' : legacyHookDecode(body, encoding));
  return {
    shown,
    ...effectiveRefresh(url, head, facts.refreshes, encoding),
    title: facts.title && inOneLine(facts.title),
    scriptRedirect: mayRedirect(facts, shown === 'xml'),
    referrerPolicy: facts.referrerPolicy,
    isCut: facts.isCut,
  };
}

/**
 * Returns the refresh that Chromium follows at `url`, from the header or the meta elements: as `later` if its delay is over
 * `maxDelay`. The shortest delay wins. On a tie, the last refresh wins, although the HTML standard prefers the first. Browsers
 * ignore relative URLs if `<base>` is not a URL.
 */
function effectiveRefresh(
  url: URL,
  { headers: { refresh, 'content-security-policy': policy = '' } }: ResponseHead,
  refreshes: readonly MetaRefresh[],
  encoding: string,
): { refresh: Refresh | null; later: HopResponse['laterRefresh'] | null } {
  const policies = readPolicies(`${policy}`, url);
  const metas = policies.allowsScripts ? refreshes : [];
  // Parse the base once, because a page may have a thousand refreshes.
  const base = baseUrl(metas.at(-1)?.base ?? null, url, policies.allowsBase);
  const header = { kind: 'refresh', content: `${refresh ?? ''}`, base: null } as const;
  const inOrder = [header, ...metas]
    .map(({ content, ...written }) => ({ ...written, delay: Infinity, url: '', ...parseRefresh(content) }))
    .filter(({ delay }) => delay <= longestDelay)
    .reverse()
    .sort((a, b) => a.delay - b.delay);
  const hasDanglingBase = isDangling(metas.at(-1)?.base ?? '');
  for (const candidate of inOrder) {
    const inheritsBase = hasDanglingBase && candidate.base !== null && !parseUrl(candidate.url);
    if (isDangling(candidate.url) || inheritsBase) continue;
    const target = resolve(candidate.url, candidate.base === null ? url.href : base, encoding);
    if (target === null) continue;
    const { kind, delay } = candidate;
    const next = policies.upgrades ? upgraded(target, url) : target;
    if (delay > maxDelay) return { refresh: null, later: { seconds: delay, url: next } };
    return { refresh: { kind, url: next }, later: null };
  }
  return { refresh: null, later: null };
}

const space = String.raw`[\t\n\f\r ]`;
const refreshPattern = RegExp(
  [
    String.raw`^${space}*(?<delay>[\d.]+)(?=${space}|[,;]|$)`,
    `${space}*[,;]?${space}*`,
    `(?:url${space}*=${space}*)?(?<target>.*)$`,
  ].join(''),
  'is',
);

/**
 * Parses a refresh, such as `0; url=/next`, from a header or a meta element (HTML standard, "shared declarative refresh
 * steps"). Handles quotes like Chromium.
 *
 * @returns the delay in seconds, and the URL as written, which may be empty. Null if `text` is malformed.
 */
function parseRefresh(text: string): { delay: number; url: string } | null {
  const { delay: written = '', target = '' } = refreshPattern.exec(text)?.groups ?? {};
  // `parseFloat` ignores the text after a second decimal point.
  const delay = Number.parseFloat(written);
  return Number.isNaN(delay) ? null : { delay, url: withoutQuotes(target) };
}

/** Removes an opening quote, the closing quote, and the text after the closing quote. */
function withoutQuotes(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  const end = text.lastIndexOf(quote);
  return text.slice(1, end > 0 ? end : undefined);
}

/** Collapses white space in a title and truncates it. Returns a copy, because a slice would keep the page in memory. */
function inOneLine(title: string): string | null {
  const line = title.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const characters = [...line.slice(0, 2 * maxTitle + 1)];
  const cut = characters.length > maxTitle ? [...characters.slice(0, maxTitle - 1), '…'] : characters;
  return cut.join('') || null;
}

/** Number of bytes in which the HTML standard searches for a charset. */
const standardPrescan = 1_024;

function encodingOf({ headers }: ResponseHead, body: Buffer, xml: boolean): string {
  const [, label] = /;[\t ]*charset="?([^\s",;]+)/i.exec(headers['content-type'] ?? '') ?? [];
  const isSearched = !xml && !label && body.length > standardPrescan;
  const maxPrescanBytes = isSearched ? Math.max(headLength(body), standardPrescan) : undefined;
  // The library's types lack `xml` and `maxPrescanBytes`.
  const options = { xml, transportLayerEncodingLabel: label, maxPrescanBytes };
  return sniffEncoding(body, options);
}

/** Returns the base URL of `page`; undefined if the `href` of its `<base>` is not a URL. */
function baseUrl(base: string | null, page: URL, isAllowed: (base: URL) => boolean): string | undefined {
  const url = base === null ? page : parseUrl(base, page.href);
  const isIgnored = base !== null && url && (/^(?:data|javascript):$/.test(url.protocol) || !isAllowed(url));
  return isIgnored ? page.href : url?.href;
}

/**
 * Whether a reference may contain markup that an attacker has left open. Chromium does not follow it (Fetch standard, "potentially
 * dangling markup").
 */
function isDangling(reference: string): boolean {
  return reference.includes('<') && /[\t\n\r]/.test(reference);
}

/** Returns an http URL of the page's host with https. */
function upgraded(target: string, page: URL): string {
  const url = target === '' ? null : parseUrl(target);
  if (url?.protocol !== 'http:' || url.hostname !== page.hostname) return target;
  return parseUrl(target.replace(/^http:/, 'https:'))?.href ?? target;
}

/** Resolves a reference. @returns an empty string for the page itself; null if browsers ignore the reference. */
function resolve(reference: string, base: string | undefined, encoding: string): string | null {
  if (reference === '') return '';
  const url = parseUrl(withEncodedQuery(reference, encoding), base);
  return url && url.protocol !== 'javascript:' ? url.href : null;
}

/** Encodes the query of a reference in the page's encoding (URL standard). */
function withEncodedQuery(reference: string, encoding: string): string {
  if (/^(?:UTF|replacement)/i.test(encoding)) return reference;
  return reference.replace(/(?<=^[^?#]*\?)[^#]+/, (query) =>
    query.replace(/[\u0080-\uffff]+/g, (text) => percentEncodeAfterEncoding(encoding, text, '')),
  );
}

/** Matches comments, strings (possibly without the closing quote), braces, and assignments to the location. */
const tokens =
  /\/\*.*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\.|[^"\\])*["\\]?|'(?:\\.|[^'\\])*['\\]?|`(?:\\.|[^`\\])*[`\\]?|([{}])|(?<![\w$.])(?:(?:window|document|self)\s*\.\s*)?(location\s*(?:\.\s*(?:assign|replace)\s*\(|(?:\.\s*href\s*)?=(?![=>])))/gs;

/** Maximum tokens to examine per page (about 2 ms). */
const maxTokens = 4_000;

/**
 * Whether a script or frame on a page may redirect. On a page with little text, everything that runs counts, because nobody
 * would read the page. On a page with more text, only a top-level change of the location counts. The result is a guess, because
 * parsing scripts would take too long.
 */
function mayRedirect({ scripts, isActive, isTransformed, visible }: HtmlFacts, isXml: boolean): boolean {
  const isEmpty = visible < readable;
  if (isEmpty && (isActive || scripts.length > 0 || (isXml && isTransformed))) return true;
  let remaining = maxTokens;
  for (const script of scripts.filter((text) => text.includes('location'))) {
    let depth = 0;
    for (const [, brace, sets] of script.matchAll(tokens)) {
      if (brace) depth += brace === '{' ? 1 : -1;
      if (sets && depth === 0) return true;
      remaining -= 1;
      if (remaining === 0) return false;
    }
  }
  return false;
}
