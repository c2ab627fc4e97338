import { describe, expect, test } from 'vitest';
import { headReader } from './response-head.ts';

/** Parses a response head at once and byte by byte, and checks that both find the same end. */
function parse(text: string, maxLength?: number) {
  const { read: readWhole } = headReader(maxLength);
  const whole = readWhole(text);
  const { read } = headReader(maxLength);
  const end = [...text].findIndex((byte) => read(byte) !== null) + 1;
  expect(end).toBe(whole ? text.length - whole.rest.length : 0);
  if (!whole) return null;
  const { containsAnother, ...head } = whole.head;
  return { ...head, rest: whole.rest };
}

describe('a response head', () => {
  test('is parsed into lower-case names and trimmed values', () => {
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
    ['a value that ends with the byte A0', 'HTTP/1.1 204 OK\r\nX: \t/\xc3\xa0 \r\n\r\n', { x: '/\xc3\xa0' }],
    ['a header named constructor', 'HTTP/1.1 204 OK\r\nConstructor: x\r\n\r\n', { constructor: 'x' }],
    ['two empty lines before it', '\r\n\r\nHTTP/1.1 204 OK\r\nX: y\r\n\r\n', { x: 'y' }],
    [
      'an interim head before it',
      'HTTP/1.1 103 X\r\nX: x\r\n\r\nHTTP/1.1 204 OK\r\nX: y\r\n\r\n',
      { x: 'y' },
    ],
    ['a repeated header that is not a list', 'HTTP/1.1 204 OK\r\nAge: 1\r\nAge: 2\r\n\r\n', { age: '1' }],
    ['a list in two lines', 'HTTP/1.1 204 OK\r\nVary: a\r\nVary: b\r\n\r\n', { vary: 'a, b' }],
  ])('may have %s', (_, text, headers) => {
    expect(parse(text)).toEqual({ status: 204, minorVersion: 1, headers, rest: '' });
  });

  test.each([
    'SSH-2.0-OpenSSH_9.2\r\n',
    '\x16\x03\x01\0\x02\x02\x28\0',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    '\r\n\r\n\r\nHTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nLocation: /x\0\r\n\r\n',
  ])('is not HTTP: %j', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'ERR_NOT_HTTP' }));
  });

  test('is rejected if it exceeds the maximum length', () => {
    const text = 'HTTP/1.1 200 OK\r\nX: y\r\n\r\n';
    expect(parse(text, text.length)).toMatchObject({ status: 200 });
    for (const sent of [text, text.slice(0, -1)]) {
      expect(() => parse(sent, sent.length - 1)).toThrow(
        expect.objectContaining({ code: 'ERR_HEADERS_TOO_LONG' }),
      );
    }
  });
});

test('no parser receives a header of more than 4 KiB, except a location, a policy and a cookie of 8 KiB', () => {
  const long = 'x'.repeat(4_097);
  const half = '0'.repeat(2_048);
  const fields = [
    ...['Content-Type', 'Location', 'Content-Security-Policy', 'Set-Cookie'].map(
      (name) => `${name}: ${long}`,
    ),
    ...[`Set-Cookie: ${long}${long}`, `Refresh: ${half}`, `Refresh: ${half}`],
  ];
  const { read } = headReader(Number.POSITIVE_INFINITY);
  const { headers, omitted } = read(`HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\n\r\n`)?.head ?? {};
  expect(headers).toEqual({ location: long, 'content-security-policy': long, 'set-cookie': [long] });
  expect(omitted).toEqual(['content-type', 'refresh']);
});

test('interim heads count toward the maximum length', () => {
  const { read } = headReader();
  const hint = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(3_900)}\r\n\r\n`;
  for (let i = 0; i < 4; i += 1) expect(read(hint)).toBeNull();
  expect(() => read(hint)).toThrow(expect.objectContaining({ code: 'ERR_HEADERS_TOO_LONG' }));
});
