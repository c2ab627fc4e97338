import { trimmed } from './response-head.ts';

/** What a `Content-Disposition` field says. */
export interface Disposition {
  /** Whether browsers save the content. */
  isAttachment: boolean;
  /** The name of the file as the server wrote it; null if there is none. */
  name: string | null;
}

/** A parameter: up to the next semicolon outside quotes. The last quote may be missing. */
const parameter = /(?:"(?:\\.|[^"\\])*\\?(?:"|$)|[^";])+/gs;

const token = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Reads `Content-Disposition` (RFC 6266, 5987, 2047) as Chromium does: any type but `inline` is an attachment, a name may contain
 * spaces, lack its closing quote or be percent-encoded, and text that is not a type counts as a parameter.
 *
 * @param field bytes as Latin-1.
 */
export function readDisposition(field: string): Disposition {
  const end = field.includes(';') ? field.indexOf(';') : field.length;
  const type = trimmed(field.slice(0, end)).toLowerCase();
  const hasType = token.test(type);
  const names = new Map<string, string>();
  for (const [text] of field.slice(hasType ? end : 0).matchAll(parameter)) {
    if (trimmed(text) === '') continue;
    const equals = Math.max(text.indexOf('='), 0);
    const key = trimmed(text.slice(0, equals)).toLowerCase();
    const value = trimmed(text.slice(equals + 1));
    // Chromium stops at the first parameter that lacks a name or a value.
    if (key === '' || key.includes('"') || value === '') break;
    const name = key === 'filename*' ? extendedValue(value) : words(unquoted(value));
    if (name && !names.has(key)) names.set(key, name);
  }
  return {
    isAttachment: hasType && type !== 'inline',
    name: names.get('filename*') ?? names.get('filename') ?? null,
  };
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

/** The words of a plain value; null if the bytes of one are not text. White space between encoded words does not count. */
function words(value: string): string | null {
  let text = '';
  let isEncoded = true;
  for (const [word] of value.matchAll(/[\t\n\r ]|[^\t\n\r ]+/g)) {
    if (/^\s$/.test(word)) {
      text += isEncoded ? '' : ' ';
      continue;
    }
    const [, charset = 'utf-8', coding, content = ''] = /^=\?([^?]+)\?([qb])\?([^?]*)\?=$/i.exec(word) ?? [];
    isEncoded = coding !== undefined;
    if (!isEncoded && word.startsWith('=?')) return null;
    const bytes = isEncoded ? encodedWord(content, coding as string) : percentDecoded(word);
    const part = decoded(bytes, charset);
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
