import { legacyHookDecode } from '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';
import sniffEncoding from 'html-encoding-sniffer';
import { parseUrl } from '../expansion/parse-url.ts';
import { maxDelay, parseRefresh, type Refresh } from '../expansion/refresh.ts';
import { type MetaRefresh, readHtml } from './meta-refresh.ts';
import type { ResponseHead } from './response-head.ts';
import { mayLeadOn } from './script-redirect.ts';
import { type Shown, shownAs } from './shown.ts';

/** What a browser makes of a response. */
export interface HtmlDocument {
  shown: Shown;
  /** Where it sends its visitors by itself. */
  refresh: Refresh | null;
  title: string | null;
  /** Whether a script may send its visitors on. */
  scriptRedirect: boolean;
  /** Whether a browser would find more. */
  isCut: boolean;
}

/** Characters of a title. The rest is cut. */
const maxTitle = 120;

/**
 * Reads the response for `url` as a page. What sends its visitors on is the `Refresh` header or the meta element with the
 * shortest delay, the last one of several. So does Chromium; the HTML standard takes the first. Chromium also decides where
 * `<base>` is not a URL: then a relative URL leads nowhere.
 *
 * @param body the beginning of the body; empty if it was not read.
 */
export function readDocument(url: URL, head: ResponseHead, body: Buffer): HtmlDocument {
  const shown = shownAs(head, body);
  if (shown === 'file' || shown === 'nothing')
    return { shown, refresh: null, title: null, scriptRedirect: false, isCut: false };
  const encoding = encodingOf(head, body, shown === 'xml');
  const facts = readHtml(shown === 'other' ? '' : legacyHookDecode(body, encoding));
  return {
    shown,
    refresh: shortest(url, head, facts.refreshes, encoding),
    title: facts.title && inOneLine(facts.title),
    scriptRedirect: mayLeadOn(facts),
    isCut: facts.isCut,
  };
}

/** The refresh that a browser follows, of the header and the meta elements of the page at `url`. */
function shortest(
  url: URL,
  { headers: { refresh, 'content-security-policy': policy = '' } }: ResponseHead,
  refreshes: readonly MetaRefresh[],
  encoding: string,
): Refresh | null {
  const metas = sandbox.test(`${policy}`) ? [] : refreshes;
  // A page has one base and may have a thousand refreshes: parse the base once, for the last of them.
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

/** A title as one line, truncated; null if it is blank. The copy does not keep the page in memory. */
function inOneLine(title: string): string | null {
  const line = title.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const characters = [...line.slice(0, 2 * maxTitle + 1)];
  const cut = characters.length > maxTitle ? [...characters.slice(0, maxTitle - 1), '…'] : characters;
  return cut.join('') || null;
}

/** A policy that runs no scripts, and no meta elements either (HTML standard, "sandboxed automatic features"). */
const sandbox = /(?:^|[;,])[\t ]*sandbox(?![\w-])(?![^;,]*[\t ]allow-scripts(?![\w-]))/i;

/** A policy that allows no `<base>`. */
const noBase = /(?:^|[;,])[\t ]*base-uri(?:[\t ]+'none')?[\t ]*(?:[;,]|$)/i;

function encodingOf({ headers }: ResponseHead, body: Buffer, xml: boolean): string {
  const [, label] = /;[\t ]*charset="?([^\s",;]+)/i.exec(headers['content-type'] ?? '') ?? [];
  // Its types lack `xml`.
  const options = { xml, transportLayerEncodingLabel: label };
  return sniffEncoding(body, options);
}

/** The base URL of a page: that of `<base>` if it is valid there; undefined if it is not a URL. */
function baseUrl(base: string | null, page: URL): string | undefined {
  const url = base === null ? page : parseUrl(base, page.href);
  return url?.protocol === 'data:' || url?.protocol === 'javascript:' ? page.href : url?.href;
}

/** The URL of a reference; empty for the page itself, null if browsers do not go there. */
function resolve(reference: string, base: string | undefined, encoding: string): string | null {
  if (reference === '') return '';
  const url = parseUrl(withEncodedQuery(reference, encoding), base);
  return url && url.protocol !== 'javascript:' ? url.href : null;
}

/** Puts the query of a reference into the encoding of its page, as the URL standard has it. */
function withEncodedQuery(reference: string, encoding: string): string {
  if (/^(?:UTF|replacement)/i.test(encoding)) return reference;
  return reference.replace(/(?<=^[^?#]*\?)[^#]+/, (query) =>
    query.replace(/[\u0080-\uffff]+/g, (text) => percentEncodeAfterEncoding(encoding, text, '')),
  );
}
