import type { IncomingHttpHeaders } from 'node:http';

/** The head of an HTTP/1 response. */
export interface ResponseHead {
  status: number;
  /** By lower-case name, bytes beyond ASCII as Latin-1, like those of Node's own client. */
  headers: IncomingHttpHeaders;
}

/** The head as it is parsed. */
export interface ParsedHead extends ResponseHead {
  /** The minor version of HTTP/1: 0 or 1. */
  minorVersion: number;
  /** Whether another head seems to begin in it. */
  holdsAnother: boolean;
}

/** Bytes of the longest head. */
export const maxHeadSize = 16 * 1024;

/**
 * The grammar of RFC 9112. A line may end with LF alone (section 2.2), and a field continue in the next one (5.2). As Chromium
 * does, we accept a space before the colon, skip lines without a field, and skip two empty lines before the first one: it looks
 * for the beginning in 4 bytes.
 */
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\0\r]*)?\r?$/;
const field = /^([\w!#$%&'*+.^`|~-]+)[\t ]*:([^\0\r]*)\r?$/;
const fold = /\r?\n[\t ]+/g;
const unreadable = /\0|\r(?!$)/;
const emptyLines = /^(?:\r?\n){0,2}/;
const headEnd = /\n\r?\n/g;

/** How every response begins. */
const beginning = 'HTTP/1.';

/** Fields that are not lists: the first line counts. */
const single = new Set(['age', 'content-length', 'date', 'expires', 'location']);

/**
 * Reads the head of a response as it arrives, bytes as Latin-1. Interim responses (RFC 9110 section 15.2) precede the final one.
 * They are skipped, but count for `maxLength`: a host could send them until the deadline.
 *
 * @returns reads the next piece: the head and the text after it, or null while the head is incomplete. It throws
 *   `ERR_NOT_HTTP`, `ERR_TWO_LOCATIONS`, or `ERR_HEADERS_TOO_LONG` beyond `maxLength` characters.
 */
export function headReader(maxLength = maxHeadSize) {
  let text = '';
  /** Characters of interim heads. */
  let passed = 0;
  return function read(piece: string): { head: ParsedHead; rest: string } | null {
    const looked = text.length;
    text += piece;
    const [{ length: skipped }] = emptyLines.exec(text) as unknown as [string];
    const start = text.slice(skipped, skipped + beginning.length);
    // Another protocol may never send the end of a line.
    if (start !== '\r' && !beginning.startsWith(start)) throw notHttp();
    // Its first bytes may have come before.
    headEnd.lastIndex = Math.max(skipped, looked - 2);
    const end = headEnd.test(text) ? headEnd.lastIndex : 0;
    if (passed + (end || text.length) > maxLength)
      throw fault('ERR_HEADERS_TOO_LONG', `the headers are longer than ${maxLength} bytes`);
    if (end === 0) return null;
    const head = parseHead(text.slice(skipped, end));
    const rest = text.slice(end);
    if (head.status >= 200) return { head, rest };
    passed += end;
    text = '';
    return read(rest);
  };
}

function parseHead(text: string): ParsedHead {
  const [first = '', ...lines] = text.replace(fold, ' ').split('\n');
  const [, version, status] = statusLine.exec(first) ?? [];
  if (status === '101') throw fault('ERR_NOT_HTTP', 'the server switched protocols');
  if (!status) throw notHttp();
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const [, name, value = ''] = field.exec(line) ?? [];
    if (name !== undefined) addField(headers, name.toLowerCase(), trimmed(value));
    else if (unreadable.test(line)) throw notHttp();
  }
  const holdsAnother = text.includes(beginning, beginning.length);
  return { status: Number(status), headers, minorVersion: Number(version), holdsAnother };
}

export function notHttp(): NodeJS.ErrnoException {
  return fault('ERR_NOT_HTTP', 'the answer is not HTTP');
}

function trimmed(line: string): string {
  let [start, end] = [0, line.length];
  while (isBlank(line, start)) start += 1;
  while (end > start && isBlank(line, end - 1)) end -= 1;
  return line.slice(start, end);
}

/** Whether there is a space or a tab. `trim` would also take the second byte of an "à" in UTF-8. */
function isBlank(line: string, index: number): boolean {
  const code = line.charCodeAt(index);
  return code === 0x20 || code === 0x09;
}

/** Joins the lines of a field (RFC 9110 section 5.3), except those of cookies, which stay a list. */
function addField(headers: IncomingHttpHeaders, name: string, value: string): void {
  if (name === 'set-cookie') {
    headers[name] ??= [];
    headers[name].push(value);
  } else if (!Object.hasOwn(headers, name)) {
    headers[name] = value;
  } else if (!single.has(name)) {
    headers[name] = `${headers[name]}, ${value}`;
  } else if (name === 'location' && value !== headers[name]) {
    // So does Chromium: one of them may come from a request that was made to split the response.
    throw fault('ERR_TWO_LOCATIONS', 'the answer names two locations');
  }
}

function fault(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
