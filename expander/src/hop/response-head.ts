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
  /** Whether one of its fields looks as if another head began there. */
  holdsAnother?: true;
}

/** Bytes of the longest head. */
export const maxHeadSize = 16 * 1024;

/**
 * The grammar of RFC 9112, line by line. A line may end with LF alone (section 2.2), and a field continue in the next one (5.2).
 * As Chromium does, we accept empty lines before the first one and a space before the colon, and skip lines without a field.
 */
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\0\r\n]*)?\r?\n$/;
const field = /^([\w!#$%&'*+.^`|~-]+)[\t ]*:([^\0\r\n]*)\r?\n$/;
const otherLine = /^[^\0\r\n]+\r?\n$/;
const continuation = /^[\t ]([^\0\r\n]*)\r?\n$/;
const emptyLine = /^\r?\n$/;

/** Empty lines before the first one that Chromium skips: it looks for the beginning in 4 bytes. */
const maxEmptyLines = 2;

/** How every response begins. */
const beginning = 'HTTP/1.';

/** Fields that are not lists: the first line counts. */
const single = new Set(['age', 'content-length', 'date', 'expires', 'location']);

/**
 * Reads the head of a response as it arrives, bytes as Latin-1, and looks at each line once. Interim responses (RFC 9110
 * section 15.2) precede the final one. They are skipped, but count for `maxLength`: a host could send them until the deadline.
 *
 * @returns reads the next piece: the head and the text after it, or null while the head is incomplete. It throws
 *   `ERR_NOT_HTTP`, `ERR_TWO_LOCATIONS`, or `ERR_HEADERS_TOO_LONG` beyond `maxLength` characters.
 */
export function headReader(maxLength = maxHeadSize) {
  const parseLine = lineParser();
  let line = '';
  let length = 0;
  return (text: string): { head: ParsedHead; rest: string } | null => {
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at) + 1 || text.length;
      line += text.slice(at, end);
      length += end - at;
      at = end;
      if (length > maxLength)
        throw fault('ERR_HEADERS_TOO_LONG', `the headers are longer than ${maxLength} bytes`);
      if (text[end - 1] !== '\n') break;
      const head = parseLine(line);
      line = '';
      if (head) return { head, rest: text.slice(at) };
    }
    // Another protocol may never send the end of a line.
    const isFirst = length - line.length <= 2 * maxEmptyLines && line !== '\r';
    if (isFirst && !line.startsWith(beginning.slice(0, line.length))) throw notHttp();
    return null;
  };
}

/** Takes the lines of heads one by one. The last line of the final head returns that head. */
function lineParser() {
  let head: ParsedHead | undefined;
  /** The field that the next line may continue. */
  let name = '';
  let value = '';
  let emptyLines = 0;
  const endField = (into: ParsedHead) => {
    if (name !== '') addField(into.headers, name, trimmed(value));
    name = '';
  };
  return (line: string): ParsedHead | null => {
    if (!head) {
      emptyLines += 1;
      if (emptyLine.test(line) && emptyLines <= maxEmptyLines) return null;
      const [, version, status] = statusLine.exec(line) ?? [];
      if (status === '101') throw fault('ERR_NOT_HTTP', 'the server switched protocols');
      if (!status) throw notHttp();
      head = { status: Number(status), headers: {}, minorVersion: Number(version) };
      return null;
    }
    if (line.includes(beginning)) head.holdsAnother = true;
    const [, next, text = ''] = field.exec(line) ?? [];
    if (next !== undefined) {
      endField(head);
      name = next.toLowerCase();
      value = text;
      return null;
    }
    if (emptyLine.test(line)) {
      endField(head);
      const final = head.status < 200 ? null : head;
      head = undefined;
      return final;
    }
    const [, more] = continuation.exec(line) ?? [];
    if (more !== undefined && name !== '') value += ` ${more.replace(/^[\t ]+/, '')}`;
    else if (otherLine.test(line)) endField(head);
    else throw notHttp();
    return null;
  };
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
