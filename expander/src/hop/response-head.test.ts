import http from 'node:http';
import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answering } from '../../testing/website.ts';
import { headReader } from './response-head.ts';

/** The head of a response, and what follows it: the same, whether it arrives whole or byte by byte. */
function parse(text: string, maxLength?: number) {
  const readWhole = headReader(maxLength);
  const whole = readWhole(text);
  const read = headReader(maxLength);
  const end = [...text].findIndex((byte) => read(byte) !== null) + 1;
  expect(end).toBe(whole ? text.length - whole.rest.length : 0);
  if (!whole) return null;
  const { holdsAnother, ...head } = whole.head;
  return { ...head, rest: whole.rest };
}

describe('the head of a response', () => {
  test('has its fields by lower-case name, without the white space around them', () => {
    const text =
      'HTTP/1.0 301 Moved\r\nLOCATION:http://a.example/\r\nX-Empty:\r\nX-Tab:\t a b \t\r\n\r\nbody';
    expect(parse(text)).toEqual({
      status: 301,
      minorVersion: 0,
      headers: { location: 'http://a.example/', 'x-empty': '', 'x-tab': 'a b' },
      rest: 'body',
    });
  });

  test.each([
    ['a status line without a reason', 'HTTP/1.1 204\r\n\r\n', {}],
    ['a value that ends with a byte A0', 'HTTP/1.1 204 OK\r\nX: \t/\xc3\xa0 \r\n\r\n', { x: '/\xc3\xa0' }],
    ['a field named like a property', 'HTTP/1.1 204 OK\r\nConstructor: x\r\n\r\n', { constructor: 'x' }],
    ['two empty lines before it', '\r\n\r\nHTTP/1.1 204 OK\r\nX: y\r\n\r\n', { x: 'y' }],
    [
      'interim heads before it',
      'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 OK\r\nX: y\r\n\r\n',
      { x: 'y' },
    ],
    [
      'several lines of a field: the first where it is no list, else all',
      'HTTP/1.1 204 OK\r\nExpires: 1\r\nExpires: 2\r\nVary: a\r\nVary: b\r\n\r\n',
      { expires: '1', vary: 'a, b' },
    ],
  ])('may have %s', (_, text, headers) => {
    expect(parse(text)).toEqual({ status: 204, minorVersion: 1, headers, rest: '' });
  });

  test.each([
    'SSH-2.0-OpenSSH_9.2\r\n',
    '\x16\x03\x01',
    'HTTP/2 200\r\n',
    'HTTP/1.1 99 Low\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 2000 High\r\n\r\n',
    '\r\n\r\n\r\nHTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nLocation: /x\0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nLocation: /x\ry\r\n\r\n',
  ])('is not HTTP: %j', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'ERR_NOT_HTTP' }));
  });

  test('is incomplete up to its last character', () => {
    const text = 'HTTP/1.1 301 Moved\r\nLocation: /x\r\nX: a\r\n b\r\n\r\n';
    for (let length = 0; length < text.length; length += 1) expect(parse(text.slice(0, length))).toBeNull();
  });

  test('has as many characters as are allowed, and no more', () => {
    const text = 'HTTP/1.1 200 OK\r\nX: y\r\n\r\n';
    expect(parse(text, text.length)).toMatchObject({ status: 200 });
    for (const sent of [text, text.slice(0, -1)]) {
      expect(() => parse(sent, sent.length - 1)).toThrow(
        expect.objectContaining({ code: 'ERR_HEADERS_TOO_LONG' }),
      );
    }
  });
});

test('interim heads count toward the length that a head may have', () => {
  const read = headReader();
  const hint = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(3_900)}\r\n\r\n`;
  for (let i = 0; i < 4; i += 1) expect(read(hint)).toBeNull();
  expect(() => read(hint)).toThrow(expect.objectContaining({ code: 'ERR_HEADERS_TOO_LONG' }));
});

/** Lines of heads, common ones and strange ones. */
const lines = fc.oneof(
  fc.constantFrom(
    'Location: /a',
    'location:/b',
    'Cache-Control: private',
    'cache-control:  max-age=60',
    'Set-Cookie: a=b',
    'X\u00e9: y',
    'Connection: close',
    'Content-Length: 0',
    ' folded',
    'X: \u00ff\u0080',
    'Date : x',
    'no colon',
    'a\0b: c',
    '',
  ),
  fc
    .tuple(fc.string({ maxLength: 8 }), fc.string({ unit: 'binary-ascii', maxLength: 12 }))
    .map((field) => field.join(':')),
);
const heads = fc
  .tuple(
    fc.constantFrom('HTTP/1.1 301 Moved', 'HTTP/1.0 200 OK', 'HTTP/1.1 404', 'HTTP/1.1  200 OK'),
    fc.array(lines, { maxLength: 6 }),
    fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
  )
  .map(([status, fields, lineEnd]) => [status, ...fields, '', ''].join(lineEnd));

/** A server that answers with the bytes it was told last, and Node's own client for it. */
async function nodeClient(): Promise<(answer: string) => Promise<http.IncomingMessage | null>> {
  let next = '';
  const url = await answering((socket) => void socket.end(next, 'latin1'));
  return (answer) => {
    next = answer;
    return new Promise((resolve) => {
      const request = http.request(url, { method: 'HEAD', agent: false }, resolve);
      request.on('error', () => resolve(null)).end();
    });
  };
}

/** What we accept and Node's own client refuses: an example, what shows it in a head, and why we do. */
const beyond = [
  {
    what: 'lines that end with LF alone',
    example: 'HTTP/1.1 301 Moved\nLocation: /x\n\n',
    shows: /(?<!\r)\n/,
    why: 'RFC 9112 section 2.2 allows it, and browsers follow such redirects',
  },
  {
    what: 'a field that continues in the next line',
    example: 'HTTP/1.1 301 Moved\r\nX: a\r\n b\r\nLocation: /x\r\n\r\n',
    shows: /\n[\t ]/,
    why: 'RFC 9112 section 5.2 reads it as one line; old servers still fold',
  },
  {
    what: 'a control character in a value',
    example: 'HTTP/1.1 301 Moved\r\nX: \x01\r\nLocation: /x\r\n\r\n',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: These are what Node refuses.
    shows: /[\x01-\x08\v\f\x0e-\x1f\x7f]/,
    why: 'browsers ignore it; in a Location the URL parser escapes it',
  },
  {
    what: 'lengths that contradict each other',
    example: 'HTTP/1.1 301 Moved\r\nContent-Length: 1\r\nContent-Length: x\r\nLocation: /x\r\n\r\n',
    shows: /^content-length:/im,
    why: 'a HEAD has no body, and after that of a GET the connection is cut',
  },
  {
    what: 'a space before the colon',
    example: 'HTTP/1.1 301 Moved\r\nLocation : /x\r\n\r\n',
    shows: /^[^:\n]*[\t ]:/m,
    why: 'Chromium reads it',
  },
  {
    what: 'lines that are not a field',
    example: 'HTTP/1.1 301 Moved\r\nno colon\r\n: no name\r\nLocation: /x\r\n\r\n',
    shows: /^(?!HTTP\/)(?![\w!#$%&'*+.^`|~-]+[\t ]*:)[^\r\n]+/m,
    why: 'Chromium skips them',
  },
] as const;

test.each(beyond)('beyond Node’s own client: $what, for $why', async ({ example }) => {
  const ask = await nodeClient();
  expect(await ask(example)).toBeNull();
  expect(parse(example)?.headers.location).toBe('/x');
});

test('what Node’s own client accepts is read in the same way, and little else is accepted', async () => {
  const ask = await nodeClient();
  const same = fc.asyncProperty(heads, async (text) => {
    const theirs = await ask(text);
    if (!theirs) {
      if (accepts(text)) expect(beyond.some(({ shows }) => shows.test(text))).toBe(true);
      return;
    }
    if (theirs.statusCode === 101) return;
    theirs.resume();
    // As Chromium does, and unlike Node.
    const { location: locations = [] } = theirs.headersDistinct;
    if (new Set(locations).size > 1) return void expect(() => parse(text)).toThrow('two locations');
    const { status, headers } = parse(text) ?? {};
    expect(status).toBe(theirs.statusCode);
    for (const name of ['location', 'cache-control', 'set-cookie', 'connection']) {
      expect(headers?.[name]).toEqual(theirs.headers[name]);
    }
  });
  await fc.assert(same, { seed, numRuns: rounds({ short: 500, long: 20_000 }) });
});

function accepts(text: string): boolean {
  try {
    return parse(text) !== null;
  } catch {
    return false;
  }
}
