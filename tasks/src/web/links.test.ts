import { expect, test } from 'vitest';
import { linked } from './links.ts';

/** The links in `html`, as `text address`. */
const links = (html: string) =>
  [...html.matchAll(/<a dir="ltr" href="([^"]*)" rel="noreferrer">([^<]*)<\/a>/g)].map(
    ([, href, text]) => `${text} ${href}`,
  );

test.each([
  ['See https://example.org/a.', 'https://example.org/a'],
  ['(https://example.org/a)', 'https://example.org/a'],
  ['https://en.wikipedia.org/wiki/Foo_(bar), then', 'https://en.wikipedia.org/wiki/Foo_(bar)'],
  ['(see https://en.wikipedia.org/wiki/Foo_(bar)).', 'https://en.wikipedia.org/wiki/Foo_(bar)'],
  ['<https://example.org/a>!', 'https://example.org/a'],
  ['HTTPS://example.org/a?b=c&d=e#f', 'HTTPS://example.org/a?b=c&d=e#f'],
  ['见https：https://example.org/a。', 'https://example.org/a'],
  ['http://[2001:db8::1]/', 'http://[2001:db8::1]/'],
  ['https://example.org/a,b;c', 'https://example.org/a,b;c'],
  [`https://example.org/${')'.repeat(400)}`, 'https://example.org/'],
])('%s links its URL', (title, url) => {
  expect(links(linked(title)).map((link) => link.replaceAll('&amp;', '&').split(' ')[0])).toEqual([url]);
});

test.each([
  'milk',
  'javascript:alert(1)',
  'ftp://example.org/a',
  'xhttps://example.org',
  'https://',
  'https://bank.example@evil.example/',
  'https://user:secret@example.org/',
  'example.org/a',
  `https://${'a'.repeat(254)}/`,
])('%s has no link', (title) => {
  expect(linked(title)).not.toContain('<a');
});

const link = '<a dir="ltr" href="https://example.org/" rel="noreferrer">https://example.org/</a>';
test.each([
  ['"><script>alert(1)</script>', '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'],
  ["https://example.org/'onclick='x", `${link}&#39;onclick=&#39;x`],
  ['https://example.org/\u202Egpj.exe', `${link}\u202Egpj.exe`],
])('%j stays text outside the link', (title, html) => {
  expect(linked(title)).toBe(html);
});

test('Links do not change the text or its order', () => {
  const title = 'a https://example.org/1 & https://example.org/2, מה https://example.org/é!';
  const html = linked(title);
  expect(links(html)).toEqual([
    'https://example.org/1 https://example.org/1',
    'https://example.org/2 https://example.org/2',
    'https://example.org/é https://example.org/%C3%A9',
  ]);
  expect(html.replace(/<[^>]*>/g, '')).toBe(title.replace('&', '&amp;'));
});

test('A title has at most 20 links', () => {
  expect(links(linked('http://a/ '.repeat(30))).length).toBe(20);
});

test.each([
  ['https://bit.ly/3xYz?a=b&c', '/expand?u=https%3A%2F%2Fbit.ly%2F3xYz%3Fa%3Db%26c'],
  ['http://www.tinyurl.com/abc.', '/expand?u=http%3A%2F%2Fwww.tinyurl.com%2Fabc'],
  ['https://bit.ly/', undefined],
  ['https://bit.ly.example.org/a', undefined],
  ['https://example.org/bit.ly/a', undefined],
])('%s of a known shortener has a link to the expander', (title, href) => {
  expect(/class="where" href="([^"]+)"/.exec(linked(title))?.[1]).toBe(href);
});
