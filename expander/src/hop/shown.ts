import type { IncomingHttpHeaders } from 'node:http';
import { type ResponseHead, token, trimmed } from './response-head.ts';

/** What Chromium does with a response: it shows markup or other content, saves a file, or does nothing. */
export type Shown = 'html' | 'xml' | 'other' | 'file' | 'nothing';

/** Types that Chromium parses as XML and shows. The HTML parser finds the same facts in all but contrived documents. */
const xmlTypes = new Set('application/xhtml+xml application/xml image/svg+xml text/xml text/xsl'.split(' '));

/** Types for which browsers examine the content (MIME Sniffing standard, section 5). */
const unknownTypes = new Set(['', 'unknown/unknown', 'application/unknown', '*/*']);

/** Other types that Chromium shows: blink/common/mime_util/mime_util.cc and media/base/mime_util_internal.cc. */
const shownTypes = new RegExp(
  `^(?:${[
    '(?:text/(?!(?:x-)?v?calendar$|(?:x-)?(?:vcard|qif|csv|vcf)$|directory$|ldif$|ofx$|rtf$|tsv$|comma-sep|tab-sep)\\S+)',
    'application/(?:\\S+\\+json|json|(?:x-)?(?:java|ecma)script|(?:rss|atom)\\+xml|ogg|x-mpegurl|vnd.apple.mpegurl)',
    'image/(?:a?png|avif|bmp|gif|jpe?g|jxl|pjpeg|webp|vnd.microsoft.icon|x-icon|x-png|x-xbitmap)',
    'audio/(?:aac|flac|mp[34]|mpeg|(?:x-)?mpegurl|ogg|(?:x-)?wav|webm|x-m4a)',
    'video/(?:3gpp|mp4|ogg|webm|x-m4v|x-matroska)',
    'multipart/x-mixed-replace',
  ].join('|')})$`,
);

/** The beginning of HTML without a Content-Type (MIME Sniffing standard, section 7.1). */
const htmlBeginning =
  /^[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])/i;

const xmlBeginning = /^[\t\n\f\r ]*<\?xml/;

/** The beginning of PDF and PostScript, which Chromium saves even if they look like text. */
const printed = /^%(?:PDF-|!PS-Adobe-)/;

/** The first bytes of binary content that Chromium shows: images, audio, video, and text with a byte order mark. */
const shownBytes =
  '\x89PNG\r\n\x1a\n|GIF87a|GIF89a|\xff\xd8\xff|BM|ID3|\x1aE\xdf\xa3|\xfe\xff|\xff\xfe|\xef\xbb\xbf'.split(
    '|',
  );
const webp = /^RIFF.{4}WEBPVP/s;

/** Bytes that text does not contain (MIME Sniffing standard, section 3). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: These are the bytes.
const binary = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** Bytes of the content that Chromium examines. */
const sniffed = 1_024;

/**
 * What Chromium does with the response; `other` if that depends on unknown content.
 *
 * @param content its beginning; empty if unknown.
 */
export function shownAs({ status, headers }: ResponseHead, content: Buffer = Buffer.alloc(0)): Shown {
  if (status === 304) return 'nothing';
  if ((dispositionType(headers['content-disposition']) ?? 'inline') !== 'inline') return 'file';
  const type = mimeType(headers);
  const isKnown = !unknownTypes.has(type);
  if (isKnown && type !== 'text/html' && !xmlTypes.has(type) && !shownTypes.test(type)) return 'file';
  if (status === 204 || status === 205) return 'nothing';
  if (type === 'text/html') return 'html';
  if (xmlTypes.has(type)) return 'xml';
  if (!isSniffed(type, headers)) return 'other';
  const beginning = content.toString('latin1', 0, sniffed);
  if (!isKnown && htmlBeginning.test(beginning)) return 'html';
  if (!isKnown && xmlBeginning.test(beginning)) return 'xml';
  if (webp.test(beginning) || shownBytes.some((bytes) => beginning.startsWith(bytes))) return 'other';
  return binary.test(beginning) || (!isKnown && printed.test(beginning)) ? 'file' : 'other';
}

/** Whether the content decides how Chromium shows the response, or may contain a redirect. */
export function isDecidedByContent(head: ResponseHead): boolean {
  const type = mimeType(head.headers);
  const shown = shownAs(head);
  if (shown !== 'other') return shown === 'html' || shown === 'xml';
  return isSniffed(type, head.headers) && (type !== 'text/plain' || head.headers.refresh !== undefined);
}

/** Whether Chromium examines the content: servers send all kinds of files as `text/plain`. */
function isSniffed(type: string, { 'x-content-type-options': sniffing = '' }: IncomingHttpHeaders): boolean {
  return (unknownTypes.has(type) || type === 'text/plain') && !/^nosniff\b/i.test(`${sniffing}`);
}

/** The last valid MIME type (Fetch standard, "extract a MIME type") in lower case; empty without a valid type. */
export function mimeType({ 'content-type': field = '' }: IncomingHttpHeaders): string {
  const types = field.split(',').map((type) => /^[\t ]*([^\s;/]+\/[^\s;/]+)/.exec(type)?.[1]?.toLowerCase());
  return types.findLast((type) => type !== undefined) ?? '';
}

/** The type in `Content-Disposition`; null without a type. Browsers save the content for any type but `inline`. */
export function dispositionType(field = ''): string | null {
  const type = trimmed(field.replace(/;.*/s, '')).toLowerCase();
  return token.test(type) ? type : null;
}
