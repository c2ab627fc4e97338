import { randomUUID } from 'node:crypto';
import { testWorstInputs, type UntrustedInput } from '@longhand/shared/testing/worst-input.ts';
import { afterAll } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { startOrigin } from '../testing/origin.ts';
import { words } from '../testing/pieces.ts';

const { app, expand, close } = testExpander({ lookup: async () => [] });
const origin = await startOrigin();
afterAll(() => {
  close();
  return origin.close();
});

const bytes = (text: string) => Buffer.from(text).toString('latin1');
/** Combining marks that normalization must sort. */
const [above, below] = ['\u0301', '\u0323'] as const;
const urls = [
  ...words`http:// https: a a. ß %cc%81 % \ / : @ ? # [ ::1 xn-- " <`,
  ...[above, below, '\t', ' '],
];
const tokens = [...words`" \" \ , ; = a longhand * W/ id % .`, ' ', '\t'];
const cookie = [...words`a=1 a = ; Path=/ Domain= . Expires= Max-Age= 9 " ,`, ' '];
const markup = [
  ...['<meta http-equiv=refresh content="0;url=a">', '<meta http-equiv=refresh content="99;url=a">'],
  ...words`< <base http-equiv=refresh content="0;url= href="// http:// " ' > /> <!-- --> & &# <script> </script
    </ <svg> <title> <![CDATA[ =`,
  ...['<meta ', '<base href="//', ' ', bytes(above)],
];

/** Returns a new path each time, to avoid cache hits. */
const target = () => `${origin.url}/${randomUUID()}`;
const get = async (query: string, headers = {}) => (await app.request(`/api?${query}`, { headers })).text();
const expandLines = async (body: string) =>
  (await app.request('/api/expand', { method: 'POST', body })).text();

/** Expands new URLs of a website that sends this response. */
async function expandAnswer(head: string, body = '', { urls = 1, piece = 65_536 } = {}) {
  await origin.answer({ bytes: `HTTP/1.1 ${head}\r\n\r\n${body}`, piece });
  await Promise.all(Array.from({ length: urls }, () => expand.chain(target(), { follow: 'all' })));
}

const fields = ['a: b\r\n', '\r\n ', 'Location: /\r\n', 'Content-Length: 0\r\n'];
const page = '200 OK\r\nContent-Type: text/html; charset=utf-8';
const list = (url: string) =>
  Array.from({ length: 60 }, (_, i) => `http://${i}.${url.replace(/\s/g, '')}`).join('\n');

const input = (size: number, pieces: string[], send: UntrustedInput['send']): UntrustedInput => ({
  size,
  pieces,
  send,
});
/** An untrusted input in the body of an HTML page. */
const html = (pieces: string[], body = (text: string) => text) =>
  input(65_536, pieces, (text) => expandAnswer(page, body(text)));
const [chunked, xhtml] = [
  `${page}\r\nTransfer-Encoding: chunked`,
  '200 OK\r\nContent-Type: application/xhtml+xml',
];
const locations = urls.map(bytes);
const requestHeaders = words`CDN-Loop X-Forwarded-For X-Request-Id Accept If-None-Match Cookie User-Agent`;

/** All untrusted inputs and their maximum sizes. */
const inputs: Record<string, UntrustedInput> = {
  u: input(8_192, urls, (text) => get(`u=${encodeURIComponent(text)}`)),
  "the page's u": input(8_192, urls, async (text) =>
    (await app.request(`/?u=${encodeURIComponent(text)}`)).text(),
  ),
  query: input(32_000, words`& u u= cb= % + a ; ?`, get),
  cb: input(32_000, tokens, (text) => get(`u=${target()}&cb=${encodeURIComponent(text)}`)),
  ...Object.fromEntries(
    requestHeaders.map((name) => [
      name,
      input(32_000, tokens, (text) => get('u=a.invalid', { [name]: `.${text}.` })),
    ]),
  ),
  'list, one line': input(8_000_000, [...words`[ ] " , a`, '\n', '\r', ' ', '\\'], expandLines),
  'list, each line': input(4_000, urls, (text) => expandLines(list(text))),
  Location: input(16_000, locations, (text) =>
    expandAnswer(`302 Found\r\nLocation: ${text.replace(/[\r\n]/g, '')}`),
  ),
  "a wrapper's Location": input(
    16_000,
    words`* ** - _ __; /v3/__ %25 %2f -2F ;AAAA !! https://urldefense.com/v3/__`,
    (text) => expandAnswer(`302 Found\r\nLocation: https://urldefense.com/v3/__http://a/${text}__;eHh4!!`),
  ),
  "each line's Location": input(4_500, locations, async (text) => {
    await origin.answer({ bytes: `HTTP/1.1 302 Found\r\nLocation: http://${text}\r\n\r\n` });
    await expandLines(Array.from({ length: 48 }, target).join('\n'));
  }),
  'Set-Cookie': input(15_000, cookie, (text) =>
    expandAnswer(`302 Found\r\nLocation: /\r\n${lines('Set-Cookie', text)}`),
  ),
  Refresh: input(16_000, [...words`0 ; , url = " ' .`, ' ', ...locations], (text) =>
    expandAnswer(`${page}\r\nRefresh: ${text}`),
  ),
  'header fields': input(16_000, [...words`: a`, ...[' ', '\t', '\r\n', '\n'], ...fields], (text) =>
    expandAnswer(`200 OK\r\n${text}`),
  ),
  page: html(markup),
  'page with a script': html(
    [...words`location window . = == href replace( { } " ' \` \\ // /* */ </script><script>`, ...[' ', '\n']],
    (text) => `<script>location ${text}</script>`,
  ),
  'page with a title': html(
    [
      ...words`& &nbsp &amp; &#10; </ </title a`,
      ...[' ', '\n', '\v', '\0', bytes(above), bytes('\u{1f600}')],
    ],
    (text) => `<title>${text}</title>`,
  ),
  'page with <base>': html(
    markup,
    (text) => `<base href="//a${bytes(above.repeat(4_000) + below.repeat(4_000))}">${text}`,
  ),
  'XML page': input(
    65_536,
    [
      ...[...markup, ...words`<?xml ?> h:`, '<!DOCTYPE ', '<!ENTITY '],
      ' xmlns="http://www.w3.org/1999/xhtml"',
    ],
    (text) => expandAnswer(xhtml, text),
  ),
  'chunk sizes, byte by byte': input(
    4_096,
    [...words`0 1 f ; " = a x`, ...[' ', '\t', '\r', '\n', '\r\n']],
    (text) => expandAnswer(chunked, text, { urls: 2, piece: 1 }),
  ),
  chunks: input(65_536, ['1\r\na\r\n', '1;a\r\na\r\n', '0\r\n', '\r\n', 'f', ';', ' '], (text) =>
    expandAnswer(chunked, text),
  ),
};

testWorstInputs(inputs);

/** Splits `text` into header fields of up to 100 characters. */
function lines(name: string, text: string): string {
  return (text.match(/.{1,100}/g) ?? []).map((value) => `${name}: ${value}`).join('\r\n');
}
