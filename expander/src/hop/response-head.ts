import type { IncomingHttpHeaders } from 'node:http';

/** The head of an HTTP/1 response, as it is parsed. */
export interface ParsedHead {
  status: number;
  /** By lower-case name, bytes beyond ASCII as Latin-1, like those of Node's own client. */
  headers: IncomingHttpHeaders;
  /** The minor version of HTTP/1: 0 or 1. */
  minorVersion: number;
}

/** The head of a response, and how it came. */
export interface ResponseHead extends Pick<ParsedHead, 'status' | 'headers'> {
  addressFamily: 4 | 6 | null;
}

/** The grammar of RFC 9112. A line may end with LF alone (section 2.2), and a field continue in the next one (5.2). */
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\0\r\n]*)?(?:\r?\n(?![\t ])|$)/;
const field = /^([\w!#$%&'*+.^`|~-]+):([^\0\r\n]*)\r?$/;
const continuation = /\r?\n[\t ]+/g;
const headEnd = /\r?\n\r?\n/g;

/** How every response begins. */
const beginning = 'HTTP/1.';

/** Fields that are not lists: the first line counts. */
const single = new Set(['age', 'content-length', 'date', 'expires', 'location']);

/**
 * Reads the head of a response as it arrives, bytes as Latin-1. Interim responses (RFC 9110 section 15.2) precede the
 * final one. They are skipped, but count for `maxLength`: a host could send them until the deadline.
 *
 * @returns reads the next piece: the head and the text after it, or null while the head is incomplete. It throws
 *   `ERR_NOT_HTTP`, `ERR_TWO_LOCATIONS`, or `ERR_HEADERS_TOO_LONG` beyond `maxLength` characters.
 */
export function headReader(maxLength: number) {
  let text = '';
  let left = maxLength;
  return (piece: string): { head: ParsedHead; rest: string } | null => {
    const before = text.length;
    text += piece;
    if (piece.includes('\n')) {
      // What has been looked at may hold the first half of the end.
      headEnd.lastIndex = Math.max(before - 3, 0);
      for (let end = headEnd.exec(text); end && headEnd.lastIndex <= left; end = headEnd.exec(text)) {
        const head = parseHead(text.slice(0, end.index));
        left -= headEnd.lastIndex;
        text = text.slice(headEnd.lastIndex);
        if (head.status >= 200) return { head, rest: text };
        headEnd.lastIndex = 0;
      }
    }
    if (text.length > left) {
      throw fault('ERR_HEADERS_TOO_LONG', `the headers are longer than ${maxLength} bytes`);
    }
    // Another protocol may never send the end of a head.
    if (before < beginning.length && !text.startsWith(beginning.slice(0, text.length))) throw notHttp();
    return null;
  };
}

/** Parses a head without the line ends after it. */
function parseHead(text: string): ParsedHead {
  const [, minorVersion, status] = statusLine.exec(text) ?? [];
  if (status === '101') throw fault('ERR_NOT_HTTP', 'the server switched protocols');
  if (!status) throw notHttp();
  const headers: IncomingHttpHeaders = {};
  for (const line of text.replace(continuation, ' ').split('\n').slice(1)) {
    const [, name, value = ''] = field.exec(line) ?? [];
    if (name === undefined) throw notHttp();
    addField(headers, name.toLowerCase(), trimmed(value));
  }
  return { status: Number(status), headers, minorVersion: Number(minorVersion) };
}

function notHttp(): NodeJS.ErrnoException {
  return fault('ERR_NOT_HTTP', 'the answer is not HTTP');
}

/** Removes spaces and tabs around a value. `trim` would also take the second byte of an "à" in UTF-8. */
function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (value[start] === ' ' || value[start] === '\t') start += 1;
  while (end > start && (value[end - 1] === ' ' || value[end - 1] === '\t')) end -= 1;
  return value.slice(start, end);
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
