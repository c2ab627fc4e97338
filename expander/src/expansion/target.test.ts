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
    ['has line ends inside it percent-encoded', 'http://example.com/a\r\nb', 'http://example.com/a%0D%0Ab'],
    ['has a backslash percent-encoded', 'http://example.com/a\\b', 'http://example.com/a%5Cb'],
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
    'http://exa\tmple.com/',
    'http:\\\\example.com/',
    'http://example.com:99999/',
    'http://[::1/',
    'http://1.2.3.4.5/',
    'http://"/',
    'http://a(b).example/',
    `http://example.com/${'x'.repeat(8 * 1024)}`,
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

  test('is asked as it is shown: what a backslash hides from one parser hides from none', () => {
    const { text, url } = readTarget('http://good.example\\@bad.example/');
    expect(url.hostname).toBe('bad.example');
    expect(url.username).not.toBe('');
    expect(new URL(text).href).toBe(url.href);
  });
});

describe('a Location, seen from http://example.com/a/b?q#frag', () => {
  const from = readTarget('http://example.com/a/b?q#frag');

  test.each([
    ['absolute, kept as it is written', 'https://Other.example#', 'https://Other.example#'],
    ['absolute, with the fragment inherited', 'https://other.example', 'https://other.example#frag'],
    ['without a scheme', '//other.example/x', 'http://other.example/x#frag'],
    ['an absolute path', '/x?y', 'http://example.com/x?y#frag'],
    ['a relative path', '../x', 'http://example.com/x#frag'],
    ['a query', '?z', 'http://example.com/a/b?z#frag'],
    ['a fragment of its own', '/x#own', 'http://example.com/x#own'],
    ['white space round it', '  /x#  ', 'http://example.com/x#'],
    ['markup', '/<script>', 'http://example.com/%3Cscript%3E#frag'],
    ['another scheme', 'mailto:a@example.com#', 'mailto:a@example.com#'],
  ])('%s: %s', (_, location, text) => {
    expect(resolveLocation(location, from)?.text).toBe(text);
  });

  test.each(['http://', 'http://[', '//:80', 'http://a b/'])('that is no URL is none: %s', (location) => {
    expect(resolveLocation(location, from)).toBeNull();
  });
});
