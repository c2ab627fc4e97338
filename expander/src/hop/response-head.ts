import type { IncomingHttpHeaders } from 'node:http';
import { unquotedParts } from './quoted.ts';

export interface ResponseHead {
  status: number;
  /** Headers in Latin-1, keyed by lower-case name, as in Node. */
  headers: IncomingHttpHeaders;
  /** Names of the headers that are missing from `headers` because their values are too long. */
  omitted?: readonly string[];
}

export interface ParsedHead extends ResponseHead {
  /** The minor version of HTTP/1: 0 or 1. */
  minorVersion: number;
  /** Whether the text seems to contain a second head. */
  containsAnother: boolean;
}

/** A header of a response, in Latin-1. */
export interface Field {
  name: string;
  value: string;
}

/** Maximum bytes of a head, including interim heads. */
export const maxHeadSize = 16 * 1024;

/** Maximum characters of a header value, so that no parser receives a longer value. */
const maxValueLength = 4 * 1024;

/** Maximum characters of a `Set-Cookie` value. Chromium limits the name and the value to 4 KiB, and each attribute to 1 KiB. */
const maxCookieLength = 8 * 1024;

/** Headers that may fill the whole head. Large websites have long policies; `maxLength` in target.ts limits a location. */
const long = new Set(['content-security-policy', 'location']);

/** Number of bytes in which Chromium looks for "HTTP". Up to four other bytes may precede "HTTP". */
const searched = 8;

const lineEnd = /[\r\n]+/;
const headEnd = /\n\r?\n/g;
const version = /^http\/(\d)[^.]*\.(\d)/i;
/** Matches the status. A status line without a number means 200. */
const statusOf = /^[^ ]* +(\d{1,9})/;
/** Matches a token (RFC 9110 section 5.6.2). */
export const token = /^[\w!#$%&'*+.^`|~-]+$/;

/** Headers with a single value. The first value wins if the header is repeated. */
const single = new Set(['age', 'date', 'expires', 'location', 'strict-transport-security']);

/** Headers whose repeated values must be equal. Different values may indicate response splitting. */
const unambiguous = ['content-length', 'content-disposition'];

/**
 * Creates an incremental parser for a response head in Latin-1. It accepts everything that Chromium accepts (net/http), which
 * is more than RFC 9112 allows. It skips interim responses (RFC 9110 section 15.2). Interim responses count toward `maxLength`,
 * because a host could send an endless series.
 *
 * Its functions throw `ERR_NOT_HTTP`, `ERR_AMBIGUOUS`, or `ERR_HEADERS_TOO_LONG` beyond `maxLength` characters.
 */
export function headReader(maxLength = maxHeadSize) {
  let text = '';
  let interim = 0;
  /** Parses the next chunk. @returns the head and the text after the head; null while the head is incomplete. */
  const read = (chunk: string): { head: ParsedHead; rest: string } | null => {
    const looked = text.length;
    text += chunk;
    const start = startOfHead(text);
    if (start === -1 && text.length >= searched) throw notHttp();
    // The empty line may start in the previous chunk.
    headEnd.lastIndex = Math.max(start, looked - 2);
    const end = start !== -1 && headEnd.test(text) ? headEnd.lastIndex : 0;
    if (interim + (end || text.length) > maxLength) throw headersTooLong(maxLength);
    if (end === 0) return null;
    const head = parseHead(text.slice(0, end));
    const rest = text.slice(end);
    if (!isInterim(head)) return { head, rest };
    interim += end;
    text = '';
    return read(rest);
  };
  return {
    read,
    /** Returns the head after the connection has closed, even without the final empty line. */
    end(): ParsedHead {
      const head = startOfHead(text) === -1 ? null : parseHead(text);
      if (!head || isInterim(head)) throw notHttp();
      return head;
    },
  };
}

/** Returns the index of the head in `text`, or -1. */
function startOfHead(text: string): number {
  return text.slice(0, searched).toLowerCase().indexOf('http');
}

function isInterim({ status }: ResponseHead): boolean {
  return status >= 100 && status < 200;
}

function parseHead(sent: string): ParsedHead {
  if (sent.includes('\0')) throw notHttp();
  const text = sent.slice(startOfHead(sent));
  const [first = '', ...lines] = text.split(lineEnd);
  const [, major, minor] = version.exec(first) ?? [];
  const minorVersion = Number(`${major}.${minor}`) >= 1.1 ? 1 : 0;
  const status = Number(statusOf.exec(first)?.[1] ?? 200);
  if (status === 101) throw fault('ERR_NOT_HTTP', 'the server switched protocols');
  const collected = headersOf(fieldsOf(lines), minorVersion);
  return { status, ...collected, minorVersion, containsAnother: text.includes('HTTP/1.', 1) };
}

/** Collects the fields of a response. @throws `ERR_AMBIGUOUS` */
export function headersOf(fields: Iterable<Field>, minorVersion = 1): Omit<ResponseHead, 'status'> {
  const headers: IncomingHttpHeaders = {};
  for (const field of fields) {
    const name = trimmed(field.name).toLowerCase();
    if (token.test(name)) addField(headers, name, trimmed(field.value));
  }
  // Chromium ignores Transfer-Encoding in HTTP/1.0.
  if (minorVersion === 0) delete headers['transfer-encoding'];
  const omitted = omitLongValues(headers);
  for (const name of unambiguous) {
    if (headers[name]?.includes(',')) headers[name] = onlyValue(headers, name);
  }
  return { headers, ...(omitted.length > 0 && { omitted }) };
}

/** Splits lines into names and values. White space at the start of a line continues the previous value. Skips nameless lines. */
function fieldsOf(lines: readonly string[]): Field[] {
  const fields: Field[] = [];
  let mayContinue = false;
  for (const line of lines) {
    const last = fields.at(-1);
    const colon = isBlank(line, 0) ? 0 : line.indexOf(':');
    if (colon > 0) fields.push({ name: line.slice(0, colon), value: line.slice(colon + 1) });
    else if (mayContinue && last && isBlank(line, 0)) last.value += ` ${trimmed(line)}`;
    mayContinue = colon > 0 || (mayContinue && isBlank(line, 0));
  }
  return fields;
}

export function headersTooLong(maxLength = maxHeadSize): NodeJS.ErrnoException {
  return fault('ERR_HEADERS_TOO_LONG', `the headers are longer than ${maxLength} bytes`);
}

export function notHttp(): NodeJS.ErrnoException {
  return fault('ERR_NOT_HTTP', 'the response is not HTTP');
}

/** Removes leading and trailing spaces and tabs. */
export function trimmed(line: string): string {
  let start = 0;
  let end = line.length;
  while (isBlank(line, start)) start += 1;
  while (end > start && isBlank(line, end - 1)) end -= 1;
  return line.slice(start, end);
}

/** Whether the character is a space or a tab. `trim` would also remove the second byte of an "à" in UTF-8. */
function isBlank(line: string, index: number): boolean {
  const code = line.charCodeAt(index);
  return code === 0x20 || code === 0x09;
}

/** Adds a header. Joins the values of a repeated header into a list (RFC 9110 section 5.3), except cookies. */
function addField(headers: IncomingHttpHeaders, name: string, value: string): void {
  if (name === 'set-cookie') {
    headers[name] ??= [];
    headers[name].push(value);
  } else if (!Object.hasOwn(headers, name)) {
    headers[name] = value;
  } else if (!single.has(name)) {
    headers[name] = `${headers[name]}, ${value}`;
  } else if (name === 'location' && value !== headers[name]) {
    throw ambiguous(name);
  }
}

/** Deletes values that are too long. @returns the names of the deleted headers. */
function omitLongValues(headers: IncomingHttpHeaders): string[] {
  const cookies = headers['set-cookie'];
  if (cookies) headers['set-cookie'] = cookies.filter(({ length }) => length <= maxCookieLength);
  const omitted: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (typeof value !== 'string' || value.length <= maxValueLength || long.has(name)) continue;
    delete headers[name];
    omitted.push(name);
  }
  return omitted;
}

/** Returns the value of a header that may be repeated. @throws if the values differ. */
function onlyValue(headers: IncomingHttpHeaders, name: string): string {
  const values = unquotedParts(`${headers[name]}`, ',').map(trimmed);
  const [value = '', ...others] = values.filter((text) => text !== '');
  const isChunked = /(?:^|,)[\t ]*chunked[\t ]*(?:,|$)/i.test(headers['transfer-encoding'] ?? '');
  if (name === 'content-length' && isChunked) return value;
  if (others.some((other) => other !== value)) throw ambiguous(name);
  return value;
}

function ambiguous(name: string): NodeJS.ErrnoException {
  return fault('ERR_AMBIGUOUS', `the response has two different values for ${name}`);
}

function fault(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
