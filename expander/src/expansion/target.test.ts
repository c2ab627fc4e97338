import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hostText, parseUrl, readTarget, resolveLocation } from './target.ts';

const runs = rounds({ short: 20_000, long: 500_000 });

describe('readTarget', () => {
  test.each([
    ['keeps upper-case letters', 'http://Example.com', 'http://Example.com'],
    ['keeps dot segments', 'http://example.com/a/../b', 'http://example.com/a/../b'],
    ['keeps a default port', 'HTTP://example.com:80/', 'HTTP://example.com:80/'],
    ['keeps percent-encoding', 'http://example.com/%7e%2F', 'http://example.com/%7e%2F'],
    ['trims white space', ' \t\nhttp://example.com/\r\n ', 'http://example.com/'],
    ['trims invisible marks', '\u200b\u200e\u2060\u2066http://example.com/x\u2069', 'http://example.com/x'],
    ['adds a missing scheme', 'example.com/x', 'http://example.com/x'],
    ['adds a missing scheme before a port', 'example.com:8080', 'http://example.com:8080'],
    ['adds a missing scheme before slashes', '//example.com/x', 'http://example.com/x'],
    ['percent-encodes markup', 'http://example.com/<b>"\'', "http://example.com/%3Cb%3E%22'"],
    ['percent-encodes non-ASCII characters', 'http://example.com/ü', 'http://example.com/%C3%BC'],
    ['converts the host to Punycode', 'http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['removes line breaks, like a browser', 'http://example.com/a\r\nb', 'http://example.com/ab'],
    ['removes tabs, like a browser', 'http://exa\tmple.com/', 'http://example.com/'],
    ['replaces backslashes with slashes', 'http:\\\\example.com\\a\\b', 'http://example.com/a/b'],
    ['trims control characters', '\u0000\u001b http://example.com/\u001f\r ', 'http://example.com/'],
    ['accepts leading backslashes', '\\\\example.com/x', 'http://example.com/x'],
    ['keeps braces, bars and quotes', "http://example.com/{a}|b?'c", "http://example.com/{a}|b?'c"],
    ['replaces lone surrogates', 'http://example.com/\ud800', 'http://example.com/%EF%BF%BD'],
    ['adds a missing slash', 'http:/example.com', 'http://example.com/'],
  ])('%s: %j', (_, typed, text) => {
    expect(readTarget(typed).text).toBe(text);
  });

  test.each([
    ...['', 'http://', '/path', '?query', '#fragment', 'http://exa mple.com/', '/\\', 'http://a{b}.example/'],
    ...[
      'http://example.com:99999/',
      'http://[::1/',
      'http://1.2.3.4.5/',
      'http://"/',
      'http://a(b).example/',
    ],
    `http://example.com/${'x'.repeat(8 * 1024)}`,
    `http://a${'\u0301'.repeat(2_500)}.example/`,
    `http://${'a'.repeat(254)}/`,
  ])('rejects %j as invalid_url', (typed) => {
    expect(() => readTarget(typed)).toThrow(expect.objectContaining({ code: 'invalid_url' }));
  });

  test.each([
    ...['mailto:a@example.com', 'javascript:alert(1)', 'ftp://example.com/', 'data:text/html,x'],
    'file:///etc/passwd',
  ])('rejects %s as unsupported_scheme', (typed) => {
    expect(() => readTarget(typed)).toThrow(expect.objectContaining({ code: 'unsupported_scheme' }));
  });

  test('returns a URL and a text with the same host', () => {
    const { text, url } = readTarget('http://good.example\\@bad.example/');
    expect(url.host).toBe('good.example');
    expect(text).toBe('http://good.example/@bad.example/');
  });
});

// target.wpt.test.ts tests more cases.
describe('resolveLocation', () => {
  test('inherits an empty fragment', () => {
    expect(resolveLocation('/x', readTarget('http://example.com/#'))?.text).toBe('http://example.com/x#');
  });

  test.each([`/${'x'.repeat(16 * 1024)}`, `//${'a'.repeat(254)}`])(
    'returns null if the location is too long: %s',
    (location) => {
      expect(resolveLocation(location, readTarget('http://example.com/'))).toBeNull();
    },
  );
});

describe('hostText', () => {
  test.each(['/a', 'a/b', '?http://a', 'mailto:a', 'foo://a', ''])('does not find a host in %j', (text) => {
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

  test(`finds every host that the parser finds (${runs} URLs)`, () => {
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

describe('parseUrl', () => {
  const name = (length: number) => `${'a.'.repeat(length / 2)}a`.slice(-length);

  test('accepts a host of 253 characters after decoding', () => {
    expect(parseUrl(`http://${name(253)}/`)?.hostname).toBe(name(253));
    expect(parseUrl(`http://${name(253).replaceAll('a', '%EF%BD%81')}/`)?.hostname).toBe(name(253));
    expect(parseUrl(`http://${name(254)}/`)).toBeNull();
  });

  test('rejects hosts longer than 2,500 characters (833 after decoding)', () => {
    const parse = vi.spyOn(URL, 'parse');
    onTestFinished(() => parse.mockRestore());
    for (const before of ['http://', '//', 'file://', 'http://user@']) {
      expect(parseUrl(`${before}a${'\u0301'.repeat(833)}`, 'https://a.example/')).toBeNull();
      expect(parseUrl(`${before}${'%61'.repeat(834)}`, 'https://a.example/')).toBeNull();
    }
    expect(parse).not.toHaveBeenCalled();
  });

  test.each([
    ['path', `http://a.example/${'x'.repeat(8_000)}`],
    ['query', `http://a.example?${'x'.repeat(8_000)}`],
    ['user name', `http://${'x'.repeat(8_000)}@a.example`],
    ['host with another scheme', `app://${'x'.repeat(8_000)}`],
  ])('accepts a long %s', (_, text) => expect(parseUrl(text)).not.toBeNull());
});
