import type { IncomingHttpHeaders } from 'node:http';

/** The head of an HTTP/1 response, as it is parsed. */
export interface ParsedHead {
  status: number;
  /** By lower-case name, bytes beyond ASCII as Latin-1, like those of Node's own client. */
  headers: IncomingHttpHeaders;
  /** The minor version of HTTP/1: 0 or 1. */
  minorVersion: number;
  /** Characters of the head, including the empty line at its end. */
  length: number;
}

/** The head of a response, and how it came. */
export interface ResponseHead extends Pick<ParsedHead, 'status' | 'headers'> {
  addressFamily: 4 | 6 | null;
}

/** The grammar of RFC 9112. A line may end with LF alone (section 2.2), and a field continue in the next one (5.2). */
const statusLine = /HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\0\r\n]*)?\r?\n/y;
const field = /([\w!#$%&'*+.^`|~-]+):([^\0\r\n]*(?:\r?\n[\t ][^\0\r\n]*)*)\r?\n/y;
const emptyLine = /\r?\n/y;

/** How every response begins. */
const beginning = 'HTTP/1.';

/** Fields that are not lists: the first line counts. */
const single = new Set(['age', 'content-length', 'date', 'expires', 'location']);

/**
 * Parses the head at the beginning of `text`, the bytes of a response as Latin-1.
 *
 * @returns null while the head is incomplete.
 * @throws Error `ERR_NOT_HTTP`, `ERR_TWO_LOCATIONS`, or `ERR_HEADERS_TOO_LONG` if the head has more than `maxLength`
 *   characters.
 */
export function parseHead(text: string, maxLength: number): ParsedHead | null {
  const head = readHead(text);
  if ((head?.length ?? text.length) <= maxLength) return head;
  throw fault('ERR_HEADERS_TOO_LONG', `the headers are longer than ${maxLength} bytes`);
}

function readHead(text: string): ParsedHead | null {
  const status = match(statusLine, text, 0);
  if (!status) return incomplete(text, text.startsWith(beginning.slice(0, text.length)));
  let at = status[0].length;
  const headers: IncomingHttpHeaders = {};
  for (let found = match(field, text, at); found; found = match(field, text, at)) {
    const [line, name = '', value = ''] = found;
    addField(headers, name.toLowerCase(), unfolded(value));
    at += line.length;
  }
  const end = match(emptyLine, text, at);
  if (!end) return incomplete(text.slice(at));
  return {
    status: Number(status[2]),
    headers,
    minorVersion: Number(status[1]),
    length: at + end[0].length,
  };
}

/** Matches a sticky expression at `index`. */
function match(expression: RegExp, text: string, index: number): RegExpExecArray | null {
  expression.lastIndex = index;
  return expression.exec(text);
}

/** A line that does not match is incomplete as long as it has no end. */
function incomplete(line: string, plausible = true): null {
  if (!plausible || line.includes('\n')) throw fault('ERR_NOT_HTTP', 'the answer is not HTTP');
  return null;
}

function unfolded(value: string): string {
  const line = value.includes('\n') ? value.replace(/\r?\n[\t ]+/g, ' ') : value;
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
    headers[name] = [...(headers[name] ?? []), value];
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
