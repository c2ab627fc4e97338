import type { IncomingHttpHeaders } from 'node:http';
import { type ResponseHead, token, trimmed } from './response-head.ts';

/** How Chromium handles a response: displays HTML, XML or other content, saves a file, or ignores it. */
export type Shown = 'html' | 'xml' | 'other' | 'file' | 'nothing';

/** Types that Chromium parses as XML and displays. Our HTML parser extracts the same data except from contrived documents. */
const xmlTypes = new Set('application/xhtml+xml application/xml image/svg+xml text/xml text/xsl'.split(' '));

/** Types for which browsers sniff the content (MIME Sniffing standard, section 5). */
const unknownTypes = new Set(['', 'unknown/unknown', 'application/unknown', '*/*']);

/** Matches other types that Chromium displays (blink/common/mime_util/mime_util.cc, media/base/mime_util_internal.cc). */
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

/** Matches content that browsers sniff as HTML (MIME Sniffing standard, section 7.1). */
const htmlStart =
  /^[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])/i;

const xmlStart = /^[\t\n\f\r ]*<\?xml/;

/** Matches PDF and PostScript, which Chromium saves even if they look like text. */
const printable = /^%(?:PDF-|!PS-Adobe-)/;

/** First bytes of binary content that Chromium displays: images, audio, video, and text with a byte order mark. */
const shownBytes =
  '\x89PNG\r\n\x1a\n|GIF87a|GIF89a|\xff\xd8\xff|BM|ID3|\x1aE\xdf\xa3|\xfe\xff|\xff\xfe|\xef\xbb\xbf'.split(
    '|',
  );
const webp = /^RIFF.{4}WEBPVP/s;

/** Matches bytes that do not occur in text (MIME Sniffing standard, section 3). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern must match control characters.
const binary = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** Number of bytes that Chromium sniffs. */
const sniffed = 1_024;

/**
 * Returns what Chromium does with a response, or `other` if that depends on unknown content.
 *
 * @param content the start of the content; empty if unknown.
 */
export function shownAs({ status, headers }: ResponseHead, content: Buffer = Buffer.alloc(0)): Shown {
  // Chromium rejects a 407 that does not come from a proxy.
  if (status === 304 || status === 407) return 'nothing';
  if ((dispositionType(headers['content-disposition']) ?? 'inline') !== 'inline') return 'file';
  const type = mimeType(headers);
  const isKnown = !unknownTypes.has(type);
  if (isKnown && type !== 'text/html' && !xmlTypes.has(type) && !shownTypes.test(type)) return 'file';
  if (status === 204 || status === 205) return 'nothing';
  if (type === 'text/html') return 'html';
  if (xmlTypes.has(type)) return 'xml';
  if (!isSniffed(type, headers)) return 'other';
  const start = content.toString('latin1', 0, sniffed);
  if (!isKnown && htmlStart.test(start)) return 'html';
  if (!isKnown && xmlStart.test(start)) return 'xml';
  if (webp.test(start) || shownBytes.some((bytes) => start.startsWith(bytes))) return 'other';
  return binary.test(start) || (!isKnown && printable.test(start)) ? 'file' : 'other';
}

/** Whether the body is needed to classify the response or find a redirect. */
export function isDecidedByContent(head: ResponseHead): boolean {
  const type = mimeType(head.headers);
  const shown = shownAs(head);
  if (shown !== 'other') return shown === 'html' || shown === 'xml';
  return isSniffed(type, head.headers) && (type !== 'text/plain' || head.headers.refresh !== undefined);
}

/** Whether Chromium sniffs the content. It also sniffs `text/plain`, which servers send for all kinds of files. */
function isSniffed(type: string, { 'x-content-type-options': sniffing = '' }: IncomingHttpHeaders): boolean {
  return (unknownTypes.has(type) || type === 'text/plain') && !/^nosniff\b/i.test(`${sniffing}`);
}

/** Returns the last valid MIME type (Fetch standard, "extract a MIME type") in lower case; empty if none is valid. */
export function mimeType({ 'content-type': field = '' }: IncomingHttpHeaders): string {
  const types = field.split(',').map((type) => /^[\t ]*([^\s;/]+\/[^\s;/]+)/.exec(type)?.[1]?.toLowerCase());
  return types.findLast((type) => type !== undefined) ?? '';
}

/** Returns the type in `Content-Disposition`, or null. Browsers save the content for every type except `inline`. */
export function dispositionType(field = ''): string | null {
  const type = trimmed(field.replace(/;.*/s, '')).toLowerCase();
  return token.test(type) ? type : null;
}
