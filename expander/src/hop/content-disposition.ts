import { trimmed } from './response-head.ts';

/** A parameter: up to the next semicolon outside quotes. The last quote may be missing. */
const parameter = /(?:"(?:\\.|[^"\\])*\\?(?:"|$)|[^";])+/gs;

const token = /^[\w!#$%&'*+.^`|~-]+$/;

/** Parameters that are read: nobody needs more. */
const maxParameters = 50;

/** Whether browsers save the content of a response with this `Content-Disposition`: any type but `inline` says so. */
export function isAttachment(field: string): boolean {
  const { type } = split(field);
  return type !== null && type !== 'inline';
}

/**
 * The name of the file in `Content-Disposition` (RFC 6266, 5987, 2047), as the server wrote it. As in Chromium, a name may
 * contain spaces, lack its closing quote or be percent-encoded.
 *
 * @param field bytes as Latin-1.
 * @returns null if there is none.
 */
export function fileName(field: string): string | null {
  const names = new Map<string, string>();
  for (const [text] of split(field).parameters.matchAll(parameter).take(maxParameters)) {
    if (trimmed(text) === '') continue;
    const equals = Math.max(text.indexOf('='), 0);
    const key = trimmed(text.slice(0, equals)).toLowerCase();
    const value = trimmed(text.slice(equals + 1));
    // Chromium stops at the first parameter that lacks a name or a value.
    if (key === '' || key.includes('"') || value === '') break;
    if (!/^filename\*?$/.test(key) || names.has(key)) continue;
    const name = key === 'filename*' ? extendedValue(value) : words(unquoted(value));
    if (name) names.set(key, name);
  }
  return names.get('filename*') ?? names.get('filename') ?? null;
}

/** The type of a field and its parameters. Text that is not a type counts as a parameter. */
function split(field: string): { type: string | null; parameters: string } {
  const end = field.includes(';') ? field.indexOf(';') : field.length;
  const type = trimmed(field.slice(0, end)).toLowerCase();
  return token.test(type) ? { type, parameters: field.slice(end) } : { type: null, parameters: field };
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  return /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value.slice(1);
}

/** A value with its charset (RFC 5987); null if it is malformed. */
function extendedValue(value: string): string | null {
  const [, charset = '', text = ''] = /^([^'"]+)'[^'"]*'([\0-!#-&(-\x7f]*)$/.exec(value) ?? [];
  return decoded(percentDecoded(text), charset);
}

/** The text of a plain value; null if some bytes of it are not text. White space after encoded words does not count. */
function words(value: string): string | null {
  let text = '';
  for (const [piece] of value.matchAll(/=\?[^\t\n\r ]*|(?:[\t\n\r ]|(?!=\?)[^\t\n\r ]+)+/g)) {
    const [, charset = 'utf-8', coding, content = ''] = /^=\?([^?]+)\?([qb])\?([^?]*)\?=$/i.exec(piece) ?? [];
    if (coding === undefined && piece.startsWith('=?')) return null;
    const plain = piece.replace(/^[\t\n\r ]+/, '').replace(/[\t\n\r]/g, ' ');
    const part = decoded(coding ? encodedWord(content, coding) : percentDecoded(plain), charset);
    if (part === null) return null;
    text += part;
  }
  return text;
}

/** The bytes of an encoded word (RFC 2047 section 4). */
function encodedWord(content: string, coding: string): Buffer {
  if (coding.toLowerCase() === 'b') return Buffer.from(content, 'base64');
  return percentDecoded(content.replaceAll('%', '%25').replaceAll('_', ' ').replaceAll('=', '%'));
}

/** The bytes that a text stands for; those beyond ASCII stand for themselves, and so does "%" before anything but two digits. */
export function percentDecoded(text: string): Buffer {
  const bytes = text.replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** @returns null if the charset is unknown, or the bytes are not in it. */
export function decoded(bytes: Buffer, charset = 'utf-8'): string | null {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
