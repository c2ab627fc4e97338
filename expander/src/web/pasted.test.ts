import { expect, test } from 'vitest';
import { linksIn } from './pasted.ts';

test.each([
  ['a sentence', 'Look at https://sho.rt/a?b=1#c please', 'https://sho.rt/a?b=1#c'],
  ['a sentence without a scheme', 'e.g. sho.rt/a, it is good', 'sho.rt/a'],
  ['a URL before a host', 'from mail.example: http://sho.rt/a', 'http://sho.rt/a'],
  ['a bare host', 'visit example.com today', 'example.com'],
  ['angle brackets', '<https://sho.rt/a>', 'https://sho.rt/a'],
  ['quotes', '"https://sho.rt/a"', 'https://sho.rt/a'],
  ['typographic quotes', '“sho.rt/a”', 'sho.rt/a'],
  ['an attribute', '<a href="https://sho.rt/a">', 'https://sho.rt/a'],
  ['Markdown', '[here](https://sho.rt/a_(b))', 'https://sho.rt/a_(b)'],
  ['Markdown whose text is a URL', '[https://bank.example](https://sho.rt/a)', 'https://sho.rt/a'],
  ['an attribute without quotes', '<a href=https://sho.rt/a>here</a>', 'https://sho.rt/a'],
  ['JSON', '{"url":"https://sho.rt/a","title":"b"}', 'https://sho.rt/a'],
  ['a spreadsheet', '=HYPERLINK("https://sho.rt/a","here")', 'https://sho.rt/a'],
  ['one URL twice', 'https://sho.rt/a or https://sho.rt/a', 'https://sho.rt/a'],
  ['a full stop', 'https://sho.rt/a.', 'https://sho.rt/a'],
  ['a sentence in brackets', '(see https://sho.rt/a).', 'https://sho.rt/a'],
  ['a Chinese or Japanese full stop', 'https://sho.rt/a。', 'https://sho.rt/a'],
  ['an invisible character', 'https://sho.rt/a\u200b', 'https://sho.rt/a'],
  ['a label before the URL', 'Link:https://sho.rt/a', 'https://sho.rt/a'],
  ['hxxp', 'hxxp://sho.rt/a', 'http://sho.rt/a'],
  ['hXXps and [.]', 'hXXps://sho[.]rt/a', 'https://sho.rt/a'],
  ['[dot] and [:]', 'hxxps[:]//sho[dot]rt/a', 'https://sho.rt/a'],
  ['no colon', 'https//sho.rt/a', 'https://sho.rt/a'],
  ['a semicolon instead of a colon', 'http;//sho.rt/a', 'http://sho.rt/a'],
  ['a space after the scheme', 'https:// sho.rt/a', 'https://sho.rt/a'],
  ['spaces around the slash', 'sho.rt / a', 'sho.rt/a'],
  ['a line break', 'sho.rt\n/a', 'sho.rt/a'],
])('understands %s: %s', (_, text, url) => {
  expect(linksIn(text)).toEqual([url]);
});

test.each([
  ...['https://sho.rt/a', 'HTTP://Sho.rt/a/', 'sho.rt/a', 'sho.rt', '//sho.rt/a', 'https:sho.rt'],
  ...['localhost:8080/x', '10.0.0.1', 'http://[::1]:80/', 'http://user:pass@sho.rt/'],
  ...['https://sho.rt/wiki/A_(b)', 'https://sho.rt/?q="x"', 'https://sho.rt/?u=http%3A%2F%2Fa.example%2F.x'],
  ...['https://archive.example/web/http://sho.rt/a', 'https://archive.example/web/http//sho.rt/a'],
  ...['archive.example/?u=https://sho.rt/a', 'ftp://a.example/http://sho.rt/', 'mailto:a@sho.rt'],
  ...['not a URL', 'a@sho.rt', '', '.', `https://sho.rt/${'x'.repeat(9_000)}.`],
])('leaves plain input unchanged: %s', (text) => {
  expect(linksIn(text)).toEqual([text]);
});

test.each([
  ['https://sho.rt/a and https://sho.rt/b.', ['https://sho.rt/a', 'https://sho.rt/b']],
  ['["https://sho.rt/a","https://sho.rt/b"]', ['https://sho.rt/a', 'https://sho.rt/b']],
  ['<a href="https://sho.rt/a">https://bank.example</a>', ['https://sho.rt/a', 'https://bank.example']],
  ['sho.rt/a\nsho.rt/b', ['sho.rt/a', 'sho.rt/b']],
  ['from mail.example: sho.rt/a sho.rt/b', ['sho.rt/a', 'sho.rt/b']],
  ['http://sho.rt/a, bit.ly/file and main.js/x', ['http://sho.rt/a', 'bit.ly/file']],
])('finds every link: %s', (text, urls) => {
  expect(linksIn(text)).toEqual(urls);
});
