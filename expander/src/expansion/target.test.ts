import { describe, expect, test } from 'vitest';
import { readTarget, resolveLocation } from './target.ts';

describe('a URL as it was typed', () => {
  test.each([
    ['keeps its spelling', 'http://Example.com', 'http://Example.com'],
    ['keeps dot segments', 'http://example.com/a/../b', 'http://example.com/a/../b'],
    ['keeps a default port', 'HTTP://example.com:80/', 'HTTP://example.com:80/'],
    ['keeps its percent-encoding', 'http://example.com/%7e%2F', 'http://example.com/%7e%2F'],
    ['loses the white space round it', ' \t\nhttp://example.com/\r\n ', 'http://example.com/'],
    ['gets the scheme it lacks', 'example.com/x', 'http://example.com/x'],
    ['gets the scheme it lacks before a port', 'example.com:8080', 'http://example.com:8080'],
    ['gets the scheme that two slashes leave out', '//example.com/x', 'http://example.com/x'],
    ['has no markup in it', 'http://example.com/<b>"\'', "http://example.com/%3Cb%3E%22'"],
    ['has what is not ASCII percent-encoded', 'http://example.com/ü', 'http://example.com/%C3%BC'],
    ['has a name that is not ASCII in punycode', 'http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['loses the line ends inside it, as in a browser', 'http://example.com/a\r\nb', 'http://example.com/ab'],
    ['loses a tab inside it, as in a browser', 'http://exa\tmple.com/', 'http://example.com/'],
    ['has its backslashes read as slashes', 'http:\\\\example.com\\a\\b', 'http://example.com/a/b'],
    ['loses the controls around it', '\u0000\u001b http://example.com/\u001f\r ', 'http://example.com/'],
    ['may begin with backslashes', '\\\\example.com/x', 'http://example.com/x'],
    ['keeps what the parser would encode', "http://example.com/{a}|b?'c", "http://example.com/{a}|b?'c"],
    ['has a lone surrogate replaced', 'http://example.com/\ud800', 'http://example.com/%EF%BF%BD'],
    ['has slashes that not all parsers read alike put right', 'http:/example.com', 'http://example.com/'],
  ])('%s: %j', (_, typed, text) => {
    expect(readTarget(typed).text).toBe(text);
  });

  test.each([
    '',
    'http://',
    '/path',
    '?query',
    '#fragment',
    'http://exa mple.com/',
    '/\\',
    'http://a{b}.example/',
    'http://example.com:99999/',
    'http://[::1/',
    'http://1.2.3.4.5/',
    'http://"/',
    'http://a(b).example/',
    `http://example.com/${'x'.repeat(8 * 1024)}`,
    `http://a${'\u0301'.repeat(2_500)}.example/`,
    `http://${'a'.repeat(254)}/`,
  ])('that is none is an invalid_url: %j', (typed) => {
    expect(() => readTarget(typed)).toThrow(expect.objectContaining({ code: 'invalid_url' }));
  });

  test.each([
    'mailto:a@example.com',
    'javascript:alert(1)',
    'ftp://example.com/',
    'data:text/html,x',
    'file:///etc/passwd',
  ])('that is neither http nor https is an unsupported_scheme: %s', (typed) => {
    expect(() => readTarget(typed)).toThrow(expect.objectContaining({ code: 'unsupported_scheme' }));
  });

  test('is checked, requested and shown as the same URL, whatever another parser would take for its host', () => {
    const { text, url } = readTarget('http://good.example\\@bad.example/');
    expect(url.host).toBe('good.example');
    expect(text).toBe('http://good.example/@bad.example/');
  });
});

// Where each leads is in target.wpt.test.ts.
describe('a Location, seen from http://example.com/a/b?q#frag', () => {
  const from = readTarget('http://example.com/a/b?q#frag');

  test('inherits an empty fragment too', () => {
    expect(resolveLocation('/x', readTarget('http://example.com/#'))?.text).toBe('http://example.com/x#');
  });

  test.each([
    'http://',
    'http://[',
    '//:80',
    'http://a b/',
    `/${'x'.repeat(16 * 1024)}`,
    `//${'a'.repeat(254)}`,
  ])('that is no URL is none: %s', (location) => {
    expect(resolveLocation(location, from)).toBeNull();
  });
});
