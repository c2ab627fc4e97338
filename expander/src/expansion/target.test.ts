import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hostText, parseUrl, readTarget, resolveLocation } from './target.ts';

const runs = rounds({ short: 20_000, long: 500_000 });

describe('a URL as typed', () => {
  test.each([
    ['keeps its spelling', 'http://Example.com', 'http://Example.com'],
    ['keeps dot segments', 'http://example.com/a/../b', 'http://example.com/a/../b'],
    ['keeps a default port', 'HTTP://example.com:80/', 'HTTP://example.com:80/'],
    ['keeps its percent-encoding', 'http://example.com/%7e%2F', 'http://example.com/%7e%2F'],
    ['loses white space around it', ' \t\nhttp://example.com/\r\n ', 'http://example.com/'],
    ['gets a missing scheme', 'example.com/x', 'http://example.com/x'],
    ['gets a missing scheme before a port', 'example.com:8080', 'http://example.com:8080'],
    ['gets a missing scheme before two slashes', '//example.com/x', 'http://example.com/x'],
    ['gets its markup percent-encoded', 'http://example.com/<b>"\'', "http://example.com/%3Cb%3E%22'"],
    ['gets non-ASCII characters percent-encoded', 'http://example.com/ü', 'http://example.com/%C3%BC'],
    ['gets a Unicode name converted to Punycode', 'http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['loses line breaks inside it, as in a browser', 'http://example.com/a\r\nb', 'http://example.com/ab'],
    ['loses a tab inside it, as in a browser', 'http://exa\tmple.com/', 'http://example.com/'],
    ['has its backslashes replaced with slashes', 'http:\\\\example.com\\a\\b', 'http://example.com/a/b'],
    ['loses the controls around it', '\u0000\u001b http://example.com/\u001f\r ', 'http://example.com/'],
    ['may begin with backslashes', '\\\\example.com/x', 'http://example.com/x'],
    [
      'keeps characters that the parser would encode',
      "http://example.com/{a}|b?'c",
      "http://example.com/{a}|b?'c",
    ],
    [
      'gets a replacement character for a lone surrogate',
      'http://example.com/\ud800',
      'http://example.com/%EF%BF%BD',
    ],
    ['gets a missing slash', 'http:/example.com', 'http://example.com/'],
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
  ])('is an invalid_url if it is not a URL: %j', (typed) => {
    expect(() => readTarget(typed)).toThrow(expect.objectContaining({ code: 'invalid_url' }));
  });

  test.each([
    'mailto:a@example.com',
    'javascript:alert(1)',
    'ftp://example.com/',
    'data:text/html,x',
    'file:///etc/passwd',
  ])('is an unsupported_scheme if it is not http or https: %s', (typed) => {
    expect(() => readTarget(typed)).toThrow(expect.objectContaining({ code: 'unsupported_scheme' }));
  });

  test('is the same URL when checked, requested and shown, even if other parsers disagree about its host', () => {
    const { text, url } = readTarget('http://good.example\\@bad.example/');
    expect(url.host).toBe('good.example');
    expect(text).toBe('http://good.example/@bad.example/');
  });
});

// More are in target.wpt.test.ts.
describe('a Location', () => {
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
  ])('resolves to nothing if it is not a URL: %s', (location) => {
    expect(resolveLocation(location, readTarget('http://example.com/'))).toBeNull();
  });
});

describe('hostText finds the host', () => {
  test.each([
    ['in a URL', 'http://a.example/b', 'a.example'],
    ['after a user name', 'http://user:b@c@a.example?b', 'a.example'],
    ['with its port', 'https://a.example:80#b', 'a.example:80'],
    ['as an address', 'http://[::1]:80/', '[::1]:80'],
    ['after any slashes', ' \thttp:/\\/\\a.example\\b', 'a.example'],
    ['without slashes', 'wss:a.example/b', 'a.example'],
    ['without a scheme', '\\/a.example/b', 'a.example'],
    ['without its tabs and line breaks', '/\t/a\r\n.example', 'a.example'],
  ])('%s: %j', (_, text, host) => expect(hostText(text)).toBe(host));

  test.each(['/a', 'a/b', '?http://a', 'mailto:a', 'foo://a', ''])('but not in %j', (text) => {
    expect(hostText(text)).toBe('');
  });

  const special = /^(?:https?|wss?|ftp|file):$/;
  const mark = 'ü'.repeat(20);
  const pieces = [
    ...['http:', 'HTTPS:', 'ws:', 'ftp:', 'file:', 'foo:', '/', '\\', '//', '@', ':', '?', '#', '[', ']'],
    ...['\t', '\n', '\r', ' ', '\0', '%2f', '%40', '.', 'C:', 'C|', 'a', mark, mark, mark],
  ];
  const bases = [
    undefined,
    'http://a.example/x',
    'https://a.example/',
    'file:///C:/x',
    'mailto:x',
    'foo://o/x',
  ];

  test(`where the parser finds it (${runs} URLs)`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 9 }),
        fc.constantFrom(...bases),
        (parts, base) => {
          const text = parts.join('');
          const url = URL.parse(text, base);
          if (url && special.test(url.protocol) && url.hostname.includes('xn--'))
            expect(hostText(text)).toContain(mark);
        },
      ),
      { seed, numRuns: runs },
    );
  });
});

describe('a host', () => {
  const name = (length: number) => `${'a.'.repeat(length / 2)}a`.slice(-length);

  test('may have 253 characters after decoding', () => {
    const encoded = name(253).replaceAll('a', '%EF%BD%81');
    expect(parseUrl(`http://${name(253)}/`)?.hostname).toBe(name(253));
    expect(parseUrl(`http://${encoded}/`)?.hostname).toBe(name(253));
    expect(parseUrl(`http://${name(254)}/`)).toBeNull();
  });

  test('is not parsed beyond 2,500 characters, or 833 after decoding', () => {
    const parse = vi.spyOn(URL, 'parse');
    onTestFinished(() => parse.mockRestore());
    for (const before of ['http://', '//', 'file://', 'http://user@']) {
      expect(parseUrl(`${before}a${'\u0301'.repeat(833)}`, 'https://a.example/')).toBeNull();
      expect(parseUrl(`${before}${'%61'.repeat(834)}`, 'https://a.example/')).toBeNull();
    }
    expect(parse).not.toHaveBeenCalled();
  });

  test.each([
    ['a path', `http://a.example/${'x'.repeat(8_000)}`],
    ['a query', `http://a.example?${'x'.repeat(8_000)}`],
    ['a user name', `http://${'x'.repeat(8_000)}@a.example`],
    ['a host of another scheme', `app://${'x'.repeat(8_000)}`],
  ])('may come with %s of any length', (_, text) => expect(parseUrl(text)).not.toBeNull());
});
