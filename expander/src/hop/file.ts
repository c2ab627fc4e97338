import { unquotedParts } from './quoted.ts';
import { type ResponseHead, trimmed } from './response-head.ts';
import { dispositionType, mimeType } from './shown.ts';

/** Maximum characters of a name. Longer names are cut in the middle, because users need to see the extension. */
const maxName = 120;
const maxEnding = 40;

/** Describes a file that a browser downloads or displays, such as a PDF. `size` is in bytes; null if unknown. */
export function fileOf(url: URL, { headers }: ResponseHead): { name: string; size: number | null } {
  const { 'content-disposition': disposition = '', 'content-length': length = '' } = headers;
  const isEncoded = headers['content-encoding'] !== undefined;
  const size = /^\d{1,15}$/.test(length) && !isEncoded ? Number(length) : null;
  const name = fileName(disposition);
  return { name: cut(name ? withoutDots(name) : nameFromUrl(url, mimeType(headers))), size };
}

/** Matches characters that Chromium replaces in file names: separators, wildcards, control and invisible characters. */
const illegal = /["*/:<>?\\|\p{Cc}\p{Noncharacter_Code_Point}]|(?![\u200c\u200d])\p{Cf}|^[\s~]|[\s~]$/gu;

function withoutDots(name: string): string {
  const inner = name.replace(/^\.+/, '').replace(/(?<!\.)\.+$/, '');
  return inner.replace(illegal, '_') || 'download';
}

/**
 * Derives a file name from the URL path. The MIME type determines the extension if the URL has a query, because the path may
 * be a script.
 */
function nameFromUrl({ pathname, search }: URL, type: string): string {
  const segment = pathname.slice(pathname.lastIndexOf('/') + 1).replace(/;.*/, '');
  const name = withoutDots(decoded(decodedBytes(segment)) ?? '');
  const extension = extensions.get(type);
  const hasExtension = /[^.]\.[^.]+$/.test(name);
  if (!extension || (hasExtension && search === '')) return name;
  return `${name.replace(/(?<=[^.])\.[^.]+$/, '')}.${extension}`;
}

/** Extensions that Chromium adds to a name, for common types (net/base/mime_util.cc). */
const extensions = new Map(
  `application/epub+zip epub, application/gzip gz, application/javascript js, application/json json, application/msword doc,
  application/pdf pdf, application/postscript ps, application/rtf rtf, application/vnd.android.package-archive apk,
  application/vnd.ms-excel xls, application/vnd.ms-powerpoint ppt, application/wasm wasm,
  application/vnd.openxmlformats-officedocument.presentationml.presentation pptx,
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx,
  application/vnd.openxmlformats-officedocument.wordprocessingml.document docx, application/x-tar tar,
  application/x-x509-ca-cert cer, application/xhtml+xml xhtml, application/zip zip, audio/mpeg mp3, image/avif avif,
  image/gif gif, image/jpeg jpeg, image/png png, image/svg+xml svg, image/webp webp, message/rfc822 eml, text/calendar ics,
  text/css css, text/csv csv, text/html html, text/javascript js, text/plain txt, text/xml xml, video/mp4 mp4,
  video/webm webm`
    .split(/,\s+/)
    .map((line) => line.split(' ') as [type: string, extension: string]),
);

function cut(name: string): string {
  const characters = [...name];
  if (characters.length <= maxName) return name;
  const start = characters.slice(0, maxName - maxEnding - 1);
  return [...start, '…', ...characters.slice(-maxEnding)].join('');
}

const maxParameters = 50;

/**
 * Returns the file name in `Content-Disposition` (RFC 6266, 5987, 2047). Like Chromium, it accepts names that contain spaces,
 * are percent-encoded, or lack the closing quote.
 *
 * @param field the header in Latin-1.
 * @returns null if the header has no valid name.
 */
function fileName(field: string): string | null {
  const names = new Map<string, string>();
  // Chromium parses the whole header as parameters if it has no type.
  const parameters = dispositionType(field) === null ? field : field.replace(/^[^;]*/, '');
  for (const text of unquotedParts(parameters, ';').take(maxParameters)) {
    if (trimmed(text) === '') continue;
    const equals = Math.max(text.indexOf('='), 0);
    const key = trimmed(text.slice(0, equals)).toLowerCase();
    const value = trimmed(text.slice(equals + 1));
    // Chromium stops at a parameter without a name or value.
    if (key === '' || key.includes('"') || value === '') break;
    if (!/^filename\*?$/.test(key) || names.has(key)) continue;
    const name = key === 'filename*' ? extendedValue(value) : words(parameterValue(value));
    if (name) names.set(key, name);
  }
  return names.get('filename*') ?? names.get('filename') ?? null;
}

/** Returns the text of a token or a quoted string (RFC 9110 section 5.6). The closing quote may be missing. */
function parameterValue(value: string): string {
  if (!value.startsWith('"')) return value;
  return /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value.slice(1);
}

/** Decodes a value with a charset, such as `UTF-8''%e2%82%ac` (RFC 5987). @returns null if it is malformed. */
function extendedValue(value: string): string | null {
  const [, charset = '', text = ''] = /^([^'"]+)'[^'"]*'([\0-!#-&(-\x7f]*)$/.exec(value) ?? [];
  return decoded(decodedBytes(text), charset);
}

/** Decodes plain text with encoded words. Drops white space after encoded words. @returns null if it is malformed. */
function words(value: string): string | null {
  let text = '';
  for (const [piece] of value.matchAll(/=\?[^\t\n\r ]*|(?:[\t\n\r ]|(?!=\?)[^\t\n\r ]+)+/g)) {
    const [, charset = 'utf-8', coding, content = ''] = /^=\?([^?]+)\?([qb])\?([^?]*)\?=$/i.exec(piece) ?? [];
    if (coding === undefined && piece.startsWith('=?')) return null;
    const plain = piece.replace(/^[\t\n\r ]+/, '').replace(/[\t\n\r]/g, ' ');
    const part = decoded(coding ? encodedWord(content, coding) : decodedBytes(plain), charset);
    if (part === null) return null;
    text += part;
  }
  return text;
}

/** Decodes the content of an encoded word (RFC 2047 section 4). */
function encodedWord(content: string, coding: string): Buffer {
  if (coding.toLowerCase() === 'b') return Buffer.from(content, 'base64');
  return decodedBytes(content.replaceAll('%', '%25').replaceAll('_', ' ').replaceAll('=', '%'));
}

/** Decodes percent-encoded bytes. Keeps malformed escapes. */
function decodedBytes(text: string): Buffer {
  const bytes = text.replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** @returns null if the charset is unknown, or the bytes are invalid in it. */
function decoded(bytes: Buffer, charset = 'utf-8'): string | null {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
