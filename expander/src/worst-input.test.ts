import { randomUUID } from 'node:crypto';
import { type Strangers, testWorstInputs } from '@longhand/shared/testing/worst-input.ts';
import { afterAll } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { startOrigin } from '../testing/origin.ts';
import { words } from '../testing/pieces.ts';

const { app, expand, close } = testExpander({
  lookup: async () => [],
});
const origin = await startOrigin();
afterAll(() => {
  close();
  return origin.close();
});

const bytes = (text: string) => Buffer.from(text).toString('latin1');
/** Combining marks of two classes, which normalization must sort. */
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

/** A new path each time, so that there are no cache hits. */
const target = () => `${origin.url}/${randomUUID()}`;
const get = async (query: string, headers = {}) => (await app.request(`/api?${query}`, { headers })).text();
const expandLines = async (body: string) =>
  (await app.request('/api/expand', { method: 'POST', body })).text();

/** Expands URLs with this response. */
async function expandAnswer(head: string, body = '', { urls = 1, piece = 65_536 } = {}) {
  await origin.answer({ bytes: `HTTP/1.1 ${head}\r\n\r\n${body}`, piece });
  await Promise.all(Array.from({ length: urls }, () => expand.chain(target(), { follow: 'all' })));
}

const fields = ['a: b\r\n', '\r\n ', 'Location: /\r\n', 'Content-Length: 0\r\n'];
const page = '200 OK\r\nContent-Type: text/html; charset=utf-8';
const list = (url: string) =>
  Array.from({ length: 60 }, (_, i) => `http://${i}.${url.replace(/\s/g, '')}`).join('\n');

/** The places that accept untrusted text, with the maximum size of each. */
const strangers: Record<string, Strangers> = {
  u: { size: 8_192, pieces: urls, send: (text) => get(`u=${encodeURIComponent(text)}`) },
  'u of the page': {
    size: 8_192,
    pieces: urls,
    send: async (text) => (await app.request(`/?u=${encodeURIComponent(text)}`)).text(),
  },
  query: {
    size: 32_000,
    pieces: ['&', 'u', 'u=', 'cb=', '%', '+', 'a', ';', '?'],
    send: (text) => get(text),
  },
  cb: { size: 32_000, pieces: tokens, send: (text) => get(`u=${target()}&cb=${encodeURIComponent(text)}`) },
  ...Object.fromEntries(
    ['CDN-Loop', 'X-Forwarded-For', 'X-Request-Id', 'Accept', 'If-None-Match', 'Cookie', 'User-Agent'].map(
      (name) => [
        name,
        { size: 32_000, pieces: tokens, send: (text: string) => get('u=a.invalid', { [name]: `.${text}.` }) },
      ],
    ),
  ),
  'list, one line': {
    size: 8_000_000,
    pieces: ['[', ']', '"', ',', '\n', '\r', ' ', '\\', 'a'],
    send: expandLines,
  },
  'list, each line': { size: 4_000, pieces: urls, send: (text) => expandLines(list(text)) },
  Location: {
    size: 16_000,
    pieces: urls.map(bytes),
    send: (text) => expandAnswer(`302 Found\r\nLocation: ${text.replace(/[\r\n]/g, '')}`),
  },
  'Location of a wrapper': {
    size: 16_000,
    pieces: words`* ** - _ __; /v3/__ %25 %2f -2F ;AAAA !! https://urldefense.com/v3/__`,
    send: (text) =>
      expandAnswer(`302 Found\r\nLocation: https://urldefense.com/v3/__http://a/${text}__;eHh4!!`),
  },
  'Location of each line': {
    size: 4_500,
    pieces: urls.map(bytes),
    async send(text) {
      await origin.answer({ bytes: `HTTP/1.1 302 Found\r\nLocation: http://${text}\r\n\r\n` });
      await expandLines(Array.from({ length: 48 }, target).join('\n'));
    },
  },
  'Set-Cookie': {
    size: 15_000,
    pieces: cookie,
    send: (text) => expandAnswer(`302 Found\r\nLocation: /\r\n${lines('Set-Cookie', text)}`),
  },
  Refresh: {
    size: 16_000,
    pieces: ['0', ';', ',', 'url', '=', '"', "'", ' ', '.', ...urls.map(bytes)],
    send: (text) => expandAnswer(`${page}\r\nRefresh: ${text}`),
  },
  'header fields': {
    size: 16_000,
    pieces: [...words`: a`, ...[' ', '\t', '\r\n', '\n'], ...fields],
    send: (text) => expandAnswer(`200 OK\r\n${text}`),
  },
  page: { size: 65_536, pieces: markup, send: (text) => expandAnswer(page, text) },
  'page with a script': {
    size: 65_536,
    pieces: [
      ...words`location window . = == href replace( { } " ' \` \\ // /* */ </script><script>`,
      ' ',
      '\n',
    ],
    send: (text) => expandAnswer(page, `<script>location ${text}</script>`),
  },
  'page with a title': {
    size: 65_536,
    pieces: [
      ...words`& &nbsp &amp; &#10; </ </title a`,
      ' ',
      '\n',
      '\v',
      '\0',
      bytes(above),
      bytes('\u{1f600}'),
    ],
    send: (text) => expandAnswer(page, `<title>${text}</title>`),
  },
  'page with <base>': {
    size: 65_536,
    pieces: markup,
    send: (text) =>
      expandAnswer(page, `<base href="//a${bytes(above.repeat(4_000) + below.repeat(4_000))}">${text}`),
  },
  'XML page': {
    size: 65_536,
    pieces: [
      ...markup,
      ...words`<?xml ?> h:`,
      '<!DOCTYPE ',
      '<!ENTITY ',
      ' xmlns="http://www.w3.org/1999/xhtml"',
    ],
    send: (text) => expandAnswer('200 OK\r\nContent-Type: application/xhtml+xml', text),
  },
  'chunk sizes, byte by byte': {
    size: 4_096,
    pieces: ['0', '1', 'f', ';', '"', ' ', '\t', '=', 'a', '\r', '\n', '\r\n', 'x'],
    send: (text) => expandAnswer(`${page}\r\nTransfer-Encoding: chunked`, text, { urls: 2, piece: 1 }),
  },
  chunks: {
    size: 65_536,
    pieces: ['1\r\na\r\n', '1;a\r\na\r\n', '0\r\n', '\r\n', 'f', ';', ' '],
    send: (text) => expandAnswer(`${page}\r\nTransfer-Encoding: chunked`, text),
  },
};

testWorstInputs(strangers);

/** Fields named `name`, each with up to 100 characters of `text`. */
function lines(name: string, text: string): string {
  return (text.match(/.{1,100}/g) ?? []).map((value) => `${name}: ${value}`).join('\r\n');
}
