import { legacyHookDecode } from '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';
import sniffEncoding from 'html-encoding-sniffer';
import type { Refresh } from '../expansion/expansion.ts';
import { parseUrl } from '../expansion/target.ts';
import { type HtmlFacts, type MetaRefresh, readable, readHtml } from './meta-refresh.ts';
import type { ResponseHead } from './response-head.ts';
import { shownAs } from './shown.ts';

/** Seconds. A page that redirects later ends the chain, because visitors have begun to read it. */
export const maxDelay = 15;

/** Characters of a title. */
const maxTitle = 120;

/**
 * How a browser treats the response for `url`: how it is shown (`shown`), where it redirects (`refresh`), and whether a browser
 * would read more of it (`isCut`).
 *
 * @param body the beginning of the body; empty if unknown.
 */
export function readDocument(url: URL, head: ResponseHead, body: Buffer) {
  const shown = shownAs(head, body);
  if (shown === 'file' || shown === 'nothing')
    return { shown, refresh: null, title: null, scriptRedirect: false, isCut: false };
  const encoding = encodingOf(head, body, shown === 'xml');
  const facts = readHtml(shown === 'other' ? '' : legacyHookDecode(body, encoding));
  return {
    shown,
    refresh: firstRefresh(url, head, facts.refreshes, encoding),
    title: facts.title && inOneLine(facts.title),
    scriptRedirect: mayRedirect(facts),
    isCut: facts.isCut,
  };
}

/**
 * The refresh that Chromium follows at `url`, from the header or the meta elements. If several have the shortest delay, the last
 * wins, although the HTML standard prefers the first. If `<base>` is not a URL, browsers ignore relative URLs.
 */
function firstRefresh(
  url: URL,
  { headers: { refresh, 'content-security-policy': policy = '' } }: ResponseHead,
  refreshes: readonly MetaRefresh[],
  encoding: string,
): Refresh | null {
  const metas = sandbox.test(`${policy}`) ? [] : refreshes;
  // A page may have a thousand refreshes, but only one base, so parse it once.
  const base = noBase.test(`${policy}`) ? url.href : baseUrl(metas.at(-1)?.base ?? null, url);
  const header = { kind: 'refresh', content: `${refresh ?? ''}`, base: null } as const;
  const inOrder = [header, ...metas]
    .map(({ content, ...written }) => ({ ...written, delay: Infinity, url: '', ...parseRefresh(content) }))
    .filter(({ delay }) => delay <= maxDelay)
    .reverse()
    .sort((a, b) => a.delay - b.delay);
  for (const candidate of inOrder) {
    const target = resolve(candidate.url, candidate.base === null ? url.href : base, encoding);
    if (target !== null) return { kind: candidate.kind, url: target };
  }
  return null;
}

/**
 * Reads a refresh, such as `0; url=/next`, from a header or a meta element (HTML standard, "shared declarative refresh steps").
 * Handles quotes like Chromium.
 *
 * @returns the delay in seconds, and the URL as written (may be empty); null if `text` is not a refresh.
 */
function parseRefresh(text: string): { delay: number; url: string } | null {
  const [, time = '', rest = ''] = /^[\t\n\f\r ]*([\d.]+)(?![^\t\n\f\r ,;])(.*)$/s.exec(text) ?? [];
  // Ignores text after a second decimal point.
  const delay = Number.parseFloat(time);
  if (Number.isNaN(delay)) return null;
  const target = rest.replace(/^[\t\n\f\r ]*[,;]?[\t\n\f\r ]*/, '');
  return { delay, url: unquoted(target.replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '')) };
}

/** The text between a quote and its last repetition, or after the only quote. */
function unquoted(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  const end = text.lastIndexOf(quote);
  return text.slice(1, end > 0 ? end : undefined);
}

/** A title in one line, truncated; null if blank. Returns a copy, so that the title does not keep the page in memory. */
function inOneLine(title: string): string | null {
  const line = title.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const characters = [...line.slice(0, 2 * maxTitle + 1)];
  const cut = characters.length > maxTitle ? [...characters.slice(0, maxTitle - 1), '…'] : characters;
  return cut.join('') || null;
}

/** A policy that disables scripts and meta elements (HTML standard, "sandboxed automatic features"). */
const sandbox = /(?:^|[;,])[\t ]*sandbox(?![\w-])(?![^;,]*[\t ]allow-scripts(?![\w-]))/i;

/** A policy that disables `<base>`. */
const noBase = /(?:^|[;,])[\t ]*base-uri(?:[\t ]+'none')?[\t ]*(?:[;,]|$)/i;

function encodingOf({ headers }: ResponseHead, body: Buffer, xml: boolean): string {
  const [, label] = /;[\t ]*charset="?([^\s",;]+)/i.exec(headers['content-type'] ?? '') ?? [];
  // The library's types lack `xml`.
  const options = { xml, transportLayerEncodingLabel: label };
  return sniffEncoding(body, options);
}

/** The base URL of a page with this `<base>`; undefined if `<base>` is not a URL. */
function baseUrl(base: string | null, page: URL): string | undefined {
  const url = base === null ? page : parseUrl(base, page.href);
  return url?.protocol === 'data:' || url?.protocol === 'javascript:' ? page.href : url?.href;
}

/** The URL of a reference; empty for the page itself, null if browsers ignore it. */
function resolve(reference: string, base: string | undefined, encoding: string): string | null {
  if (reference === '') return '';
  const url = parseUrl(withEncodedQuery(reference, encoding), base);
  return url && url.protocol !== 'javascript:' ? url.href : null;
}

/** Encodes the query of a reference in the encoding of its page (URL standard). */
function withEncodedQuery(reference: string, encoding: string): string {
  if (/^(?:UTF|replacement)/i.test(encoding)) return reference;
  return reference.replace(/(?<=^[^?#]*\?)[^#]+/, (query) =>
    query.replace(/[\u0080-\uffff]+/g, (text) => percentEncodeAfterEncoding(encoding, text, '')),
  );
}

/** Code in scripts that redirect. */
const redirecting = /\blocation\b|navigat|\b(?:open|submit|click)\s*\(|document\s*\.\s*write/;

/** Comments, strings, braces, and assignments to the location. */
const tokens =
  /\/\*.*?(?:\*\/|$)|\/\/[^\n]*|(["'`])(?:\\.|(?!\1)[^\\])*(?:\1|$)|([{}])|(?<![\w$.])(?:(?:window|document|self)\s*\.\s*)?(location\s*(?:\.\s*(?:assign|replace)\s*\(|(?:\.\s*href\s*)?=(?![=>])))/gs;

/** Tokens to examine in one page, which takes 2 ms. */
const maxTokens = 4_000;

/**
 * Whether a script of a page may redirect. On a page with little text, redirecting code is enough; else the code must set the
 * location outside all braces. This is a hint, because parsing scripts would take too long.
 */
function mayRedirect({ scripts, handlers, visible }: HtmlFacts): boolean {
  if (visible < readable && [...scripts, ...handlers].some((script) => redirecting.test(script))) return true;
  let left = maxTokens;
  for (const script of scripts.filter((text) => text.includes('location'))) {
    let depth = 0;
    for (const [, , brace, sets] of script.matchAll(tokens)) {
      if (brace) depth += brace === '{' ? 1 : -1;
      if (sets && depth === 0) return true;
      left -= 1;
      if (left === 0) return false;
    }
  }
  return false;
}
