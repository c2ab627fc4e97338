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
  ['a code that ends in _', 'see https://sho.rt/abc_ now', 'https://sho.rt/abc_'],
  ['a code that ends in *', 'see https://sho.rt/abc*', 'https://sho.rt/abc*'],
  ['a code that ends in _, alone', 'https://sho.rt/abc_', 'https://sho.rt/abc_'],
  ['bold', 'see *https://sho.rt/a* now', 'https://sho.rt/a'],
  ['bold of Markdown', '**https://sho.rt/a**', 'https://sho.rt/a'],
  ['italics', '_https://sho.rt/a_', 'https://sho.rt/a'],
  ['a Chinese comma', 'https://sho.rt/a，好', 'https://sho.rt/a'],
  ['a Chinese full stop and text', '看 https://sho.rt/a。谢谢', 'https://sho.rt/a'],
  ['wide brackets', '（https://sho.rt/a）', 'https://sho.rt/a'],
  ['corner brackets', '「https://sho.rt/a」', 'https://sho.rt/a'],
  ['an Arabic comma', 'https://sho.rt/a، ثم', 'https://sho.rt/a'],
  ['a danda', 'https://sho.rt/a। और', 'https://sho.rt/a'],
  ['&amp;', 'https://sho.rt/a?b=1&amp;c=2', 'https://sho.rt/a?b=1&c=2'],
  ['a link of Slack', 'see <https://sho.rt/a|the label> now', 'https://sho.rt/a'],
  ['AsciiDoc', 'https://sho.rt/a[the label]', 'https://sho.rt/a'],
  ['BBCode', '[url=https://sho.rt/a]here[/url]', 'https://sho.rt/a'],
  ['BBCode without a label', '[url]https://sho.rt/a[/url]', 'https://sho.rt/a'],
  ['Org', '[[https://sho.rt/a][the label]]', 'https://sho.rt/a'],
  ['a table cell', '|https://sho.rt/a|b|', 'https://sho.rt/a'],
  ['a table cell with spaces', '| https://sho.rt/a | b |', 'https://sho.rt/a'],
  ['a final quote', "https://sho.rt/a'", 'https://sho.rt/a'],
  ['a final double quote', 'https://sho.rt/a"', 'https://sho.rt/a'],
  ...['\u200e', '\u2060', '\u2066', '\u2067', '\u2068', '\u2069', '\u200b'].map((mark) => [
    `U+${mark.charCodeAt(0).toString(16)}`,
    `${mark}https://sho.rt/a`,
    'https://sho.rt/a',
  ]),
  ['an invisible character in a host', 'https://sho\u200b.rt/a', 'https://sho.rt/a'],
  ['an isolated URL', '\u2068https://sho.rt/a\u2069 now', 'https://sho.rt/a'],
  ['Chinese text', '请看https://sho.rt/a谢谢', 'https://sho.rt/a'],
  ['Japanese text', 'リンクはhttps://sho.rt/aです', 'https://sho.rt/a'],
])('understands %s: %s', (_, text, url) => {
  expect(linksIn(text)).toEqual([url]);
});

test.each([
  ...['https://sho.rt/a', 'HTTP://Sho.rt/a/', 'sho.rt/a', 'sho.rt', '//sho.rt/a', 'https:sho.rt'],
  ...['localhost:8080/x', '10.0.0.1', 'http://[::1]:80/', 'http://user:pass@sho.rt/'],
  ...['https://sho.rt/wiki/A_(b)', 'https://sho.rt/?q="x"', 'https://sho.rt/?u=http%3A%2F%2Fa.example%2F.x'],
  ...['https://archive.example/web/http://sho.rt/a', 'https://archive.example/web/http//sho.rt/a'],
  ...['archive.example/?u=https://sho.rt/a', 'ftp://a.example/http://sho.rt/', 'mailto:a@sho.rt'],
  ...['https://sho.rt/日本語', 'https://sho.rt/?a[]=1&b[c]=2', 'https://sho.rt/css?family=A|B'],
  ...['not a URL', 'a@sho.rt', '', '.', `https://sho.rt/${'x'.repeat(9_000)}.`],
])('leaves plain input unchanged: %s', (text) => {
  expect(linksIn(text)).toEqual([text]);
});

test.each([
  ['https://sho.rt/a and https://sho.rt/b.', ['https://sho.rt/a', 'https://sho.rt/b']],
  ['["https://sho.rt/a","https://sho.rt/b"]', ['https://sho.rt/a', 'https://sho.rt/b']],
  ['<a href="https://sho.rt/a">https://bank.example</a>', ['https://sho.rt/a', 'https://bank.example']],
  ['sho.rt/a\nsho.rt/b', ['sho.rt/a', 'sho.rt/b']],
  ['https://sho.rt/a\u200bhttps://sho.rt/b', ['https://sho.rt/a', 'https://sho.rt/b']],
  ['from mail.example: sho.rt/a sho.rt/b', ['sho.rt/a', 'sho.rt/b']],
  ['http://sho.rt/a, bit.ly/file and main.js/x', ['http://sho.rt/a', 'bit.ly/file']],
])('finds every link: %s', (text, urls) => {
  expect(linksIn(text)).toEqual(urls);
});
