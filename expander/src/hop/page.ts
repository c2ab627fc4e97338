import type { IncomingHttpHeaders } from 'node:http';
import { legacyHookDecode } from '@exodus/bytes/encoding.js';
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js';
import sniffEncoding from 'html-encoding-sniffer';
import { parseUrl } from '../expansion/parse-url.ts';
import { maxDelay, parseRefresh, type Refresh } from '../expansion/refresh.ts';
import { type MetaRefresh, readHtml } from './meta-refresh.ts';
import type { ResponseHead } from './response-head.ts';
import { setsLocation } from './script-redirect.ts';

const htmlType = 'text/html';

/** Types that Chromium parses as XML and shows. The HTML parser finds the same in all but contrived ones. */
const xmlTypes = new Set([
  ...['application/xhtml+xml', 'application/xml', 'image/svg+xml', 'text/xml', 'text/xsl'],
]);

/** Types for which browsers look at the content instead (MIME Sniffing standard, section 5). */
const unknownTypes = new Set(['', 'unknown/unknown', 'application/unknown', '*/*']);

/** How content of no known type begins if it is HTML (MIME Sniffing standard, section 7.1). */
const htmlBeginning =
  /^[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])/i;

/** And if it is XML. */
const xmlBeginning = /^[\t\n\f\r ]*<\?xml/;

/** Whether a browser may show a response as a page: then its body has to be looked at. */
export function mayBePage(head: ResponseHead): boolean {
  const type = mimeType(head.headers);
  if (!isShown(head)) return false;
  if (type === htmlType || xmlTypes.has(type)) return true;
  const { 'x-content-type-options': sniffing = '' } = head.headers;
  return unknownTypes.has(type) && !/^nosniff\b/i.test(`${sniffing}`);
}

/** What a page says: its refresh, its title, and whether a script sets its location. */
export interface PageReading {
  refresh: Refresh | null;
  title: string | null;
  scriptRedirect: boolean;
}

/** Characters of a title. The rest is cut. */
const maxTitle = 120;

/**
 * Reads the response for `url` as a page. What sends its visitors on is the `Refresh` header or the meta element with the
 * shortest delay, the last one of several. So does Chromium; the HTML standard takes the first. Chromium also decides where
 * `<base>` is no URL: nothing relative leads anywhere then.
 *
 * @param body the beginning of the body; empty if it was not read.
 */
export function readPage(url: URL, head: ResponseHead, body: Buffer): PageReading {
  if (!isShown(head)) return { refresh: null, title: null, scriptRedirect: false };
  const type = pageType(head, body);
  const encoding = encodingOf(head, body, type === 'xml');
  const { refreshes, title, scripts } = readHtml(type ? legacyHookDecode(body, encoding) : '');
  return {
    refresh: shortest(url, head, refreshes, encoding),
    title: title && shown(title),
    scriptRedirect: setsLocation(scripts),
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
  // A page has one base and may have a thousand refreshes: only the base of the last is looked at, and once.
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

/** A title as it is shown: in one line, and cut. Null if nothing of it shows. The copy does not keep the page in memory. */
function shown(title: string): string | null {
  const line = title.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const characters = [...line.slice(0, 2 * maxTitle + 1)];
  const cut = characters.length > maxTitle ? [...characters.slice(0, maxTitle - 1), '…'] : characters;
  return cut.join('') || null;
}

/** A policy that runs no scripts, and no meta elements either (HTML standard, "sandboxed automatic features"). */
const sandbox = /(?:^|[;,])[\t ]*sandbox(?![\w-])(?![^;,]*[\t ]allow-scripts(?![\w-]))/i;

/** A policy that allows no `<base>`. */
const noBase = /(?:^|[;,])[\t ]*base-uri(?:[\t ]+'none')?[\t ]*(?:[;,]|$)/i;

/** Whether a browser shows a response, rather than staying where it is or saving a file. */
function isShown({ status, headers }: ResponseHead): boolean {
  if ([204, 205, 304].includes(status)) return false;
  const { 'content-disposition': disposition = '' } = headers;
  return !/^[\t ]*attachment\b/i.test(disposition) && mimeType(headers) !== 'application/octet-stream';
}

/** What a browser shows a response as; null if not as a page. */
function pageType(head: ResponseHead, body: Buffer): 'html' | 'xml' | null {
  if (body.length === 0 || !mayBePage(head)) return null;
  const type = mimeType(head.headers);
  const beginning = unknownTypes.has(type) ? body.toString('latin1', 0, 1_024) : '';
  if (type === htmlType || htmlBeginning.test(beginning)) return 'html';
  return xmlTypes.has(type) || xmlBeginning.test(beginning) ? 'xml' : null;
}

/** The last valid MIME type of the field (Fetch standard, "extract a MIME type"), in lower case; empty if there is none. */
function mimeType({ 'content-type': field = '' }: IncomingHttpHeaders): string {
  const types = field.split(',').map((type) => /^[\t ]*([^\s;/]+\/[^\s;/]+)/.exec(type)?.[1]?.toLowerCase());
  return types.findLast((type) => type !== undefined) ?? '';
}

function encodingOf({ headers }: ResponseHead, body: Buffer, xml: boolean): string {
  const [, label] = /;[\t ]*charset="?([^\s",;]+)/i.exec(headers['content-type'] ?? '') ?? [];
  // Its types lack `xml`.
  const options = { xml, transportLayerEncodingLabel: label };
  return sniffEncoding(body, options);
}

/** The URL that references in a page are relative to: that of `<base>`, if it can be one; undefined if it is no URL. */
function baseUrl(base: string | null, page: URL): string | undefined {
  const url = base === null ? page : parseUrl(base, page.href);
  return url?.protocol === 'data:' || url?.protocol === 'javascript:' ? page.href : url?.href;
}

/** The URL of a reference; empty for the page itself, null for what a browser does not go to. */
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
