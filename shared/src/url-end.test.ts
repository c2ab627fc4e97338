import { expect, test } from 'vitest';
import { urlAtStart, withoutEnd } from './url-end.ts';

test.each([
  ['http://a.example/b.', 'http://a.example/b'],
  ['http://a.example/b?!…', 'http://a.example/b'],
  ['http://a.example/(b)', 'http://a.example/(b)'],
  ['http://a.example/b)', 'http://a.example/b'],
  ['http://a.example/(b))).', 'http://a.example/(b)'],
  ['http://a.example/(b)]', 'http://a.example/(b)'],
  ['http://a.example/((b)', 'http://a.example/((b)'],
  ['http://a.example/“b””', 'http://a.example/“b”'],
  ["http://a.example/'b'", "http://a.example/'b'"],
  ["http://a.example/b'", 'http://a.example/b'],
  ["http://a.example/'b''", "http://a.example/'b'"],
  ["http://a.example/'b'c'", "http://a.example/'b'c"],
  ['http://a.example/b").', 'http://a.example/b'],
  ['http://a.example/b،؟।', 'http://a.example/b'],
  ['...', ''],
])('%s ends with %s', (url, end) => expect(withoutEnd(url)).toBe(end));

test.each([
  ['http://a.example/b_', '', 'http://a.example/b_'],
  ['http://a.example/b_', '_', 'http://a.example/b'],
  ['http://a.example/b_', '*', 'http://a.example/b_'],
  ['http://a.example/b**', '*', 'http://a.example/b'],
])('a mark of emphasis ends a URL only if it stands before it, too: %s after %j', (url, before, end) =>
  expect(withoutEnd(url, before)).toBe(end),
);

test.each([
  ['http://a.example/b|c', '|', 'http://a.example/b'],
  ['http://a.example/b|c', '', 'http://a.example/b|c'],
  ['http://a.example/b]c', 'a[', 'http://a.example/b'],
  ['http://a.example/b[c]', '', 'http://a.example/b'],
  ['http://a.example[c]', '', 'http://a.example'],
  ['http://a.example?b[c]=d', '', 'http://a.example?b[c]=d'],
  ['http://[::1]/b', '', 'http://[::1]/b'],
  ['http://a.example/b的c', '在', 'http://a.example/b'],
  ['http://a.example/b的c', ' ', 'http://a.example/b的c'],
])('the text before a URL tells where it ends: %s after %j', (text, before, url) =>
  expect(urlAtStart(text, before)).toBe(url),
);
