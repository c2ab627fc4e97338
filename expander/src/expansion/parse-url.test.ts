import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hostText, parseUrl } from './parse-url.ts';

const runs = rounds({ short: 20_000, long: 500_000 });

describe('the text of a host', () => {
  test.each([
    ['of a URL', 'http://a.example/b', 'a.example'],
    ['after a user name', 'http://user:b@c@a.example?b', 'a.example'],
    ['with its port', 'https://a.example:80#b', 'a.example:80'],
    ['that is an address', 'http://[::1]:80/', '[::1]:80'],
    ['after any slashes', ' \thttp:/\\/\\a.example\\b', 'a.example'],
    ['after none', 'wss:a.example/b', 'a.example'],
    ['without a scheme', '\\/a.example/b', 'a.example'],
    ['with tabs and line ends in it', '/\t/a\r\n.example', 'a.example'],
  ])('%s: %j', (_, text, host) => expect(hostText(text)).toBe(host));

  test.each(['/a', 'a/b', '?http://a', 'mailto:a', 'foo://a', ''])('is not in %j', (text) => {
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

  test(`is where the parser finds it (${runs} URLs)`, () => {
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

  test('may have 253 characters, however many of them were percent-encoded', () => {
    const encoded = name(253).replaceAll('a', '%EF%BD%81');
    expect(parseUrl(`http://${name(253)}/`)?.hostname).toBe(name(253));
    expect(parseUrl(`http://${encoded}/`)?.hostname).toBe(name(253));
    expect(parseUrl(`http://${name(254)}/`)).toBeNull();
  });

  test('of more than 2,500 characters, or a third of it decoded, is not parsed', () => {
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
    ['the host of a scheme that is only shown', `app://${'x'.repeat(8_000)}`],
  ])('may stand beside %s of any length', (_, text) => expect(parseUrl(text)).not.toBeNull());
});
