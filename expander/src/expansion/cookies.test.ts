import { describe, expect, test } from 'vitest';
import { chainCookies } from './cookies.ts';

/** What is sent to `to` after `from` has set `lines`. */
function sent(from: string, lines: string[], to = from): string {
  const cookies = chainCookies();
  cookies.keep(lines, new URL(from));
  return cookies.header(new URL(to));
}

test('a chain begins without cookies', () => {
  expect(chainCookies().header(new URL('http://a.example/'))).toBe('');
});

describe('a cookie', () => {
  test.each([
    ['comes back', ['a=1'], 'http://a.example/x', 'http://a.example/y', 'a=1'],
    ['is for its own host', ['a=1'], 'http://a.example/', 'http://b.a.example/', ''],
    ['may be for a domain', ['a=1; Domain=a.example'], 'http://a.example/', 'http://b.a.example/', 'a=1'],
    ['is not for another domain', ['a=1; Domain=b.example'], 'http://a.example/', 'http://b.example/', ''],
    ['is not for a public suffix', ['a=1; Domain=co.uk'], 'http://a.co.uk/', 'http://b.co.uk/', ''],
    ['may be for a path', ['a=1; Path=/x'], 'http://a.example/', 'http://a.example/y', ''],
    ['is replaced', ['a=1', 'a=2'], 'http://a.example/', 'http://a.example/', 'a=2'],
    ['is removed', ['a=1', 'a=; Max-Age=0'], 'http://a.example/', 'http://a.example/', ''],
    ['that is secure goes over https', ['a=1; Secure'], 'https://a.example/', 'https://a.example/', 'a=1'],
    ['that is secure goes over nothing else', ['a=1; Secure'], 'https://a.example/', 'http://a.example/', ''],
    ['for all sites has to be secure', ['a=1; SameSite=None'], 'http://a.example/', 'http://a.example/', ''],
    ['of a prefix keeps its promise', ['__Host-a=1; Path=/'], 'https://a.example/', 'https://a.example/', ''],
    ['without a name takes no prefix', ['=__Secure-a=1'], 'https://a.example/', 'https://a.example/', ''],
    ['is for http and https', ['a=1; HttpOnly'], 'https://a.example/', 'http://a.example:8080/', 'a=1'],
  ])('%s', (_, lines, from, to, expected) => {
    expect(sent(from, lines, to)).toBe(expected);
  });

  test('that no header can hold is not kept', () => {
    expect(sent('http://a.example/', ['a=1\u0001', 'b=\u0142', 'c\u007f=1', 'd=\u00fc'])).toBe('d=\u00fc');
  });
});

test('what is replaced or removed makes room for others', () => {
  const lines = Array.from({ length: 200 }, (_, i) => [
    `a=${i}`,
    `b${i}=${'x'.repeat(3_000)}`,
    `b${i}=; Max-Age=0`,
  ]);
  expect(sent('http://a.example/', [...lines.flat(), 'a=; Max-Age=0', 'c=1'])).toBe('c=1');
});

describe('more than a browser would keep', () => {
  test('a cookie of more than 4 KiB', () => {
    expect(sent('http://a.example/', [`a=${'x'.repeat(4_095)}`, `b=${'x'.repeat(4_096)}`])).toHaveLength(
      4_097,
    );
  });

  test('more than 16 KiB, or 150 of them, in a chain', () => {
    const large = Array.from({ length: 20 }, (_, i) => `${i}=${'x'.repeat(3_000)}`);
    expect(sent('http://a.example/', large).length).toBeLessThan(16 * 1024);
    const many = Array.from({ length: 1_000 }, (_, i) => `${i}=`);
    expect(sent('http://a.example/', many).split('; ')).toHaveLength(150);
  });
});
