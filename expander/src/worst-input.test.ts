import { randomUUID } from 'node:crypto';
import tls from 'node:tls';
import { formatLogLine } from '@longhand/shared/log-line.ts';
import {
  type Parser,
  testLinearTime,
  testWorstInputs,
  type UntrustedInput,
} from '@longhand/shared/testing/worst-input.ts';
import { withoutEnd } from '@longhand/shared/url-end.ts';
import { afterAll, expect, test } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { type Protocol, startOrigin } from '../testing/origin.ts';
import { words } from '../testing/pieces.ts';
import { readUrls } from './bulk/url-list.ts';
import { chainCookies } from './expansion/cookies.ts';
import { responseFreshUntil } from './expansion/lifetime.ts';
import { readStrictTransport } from './expansion/strict-transport.ts';
import { maxLength, readTarget, resolveLocation } from './expansion/target.ts';
import { unwrap } from './expansion/wrappers.ts';
import type { Lookup } from './guard/lookup.ts';
import { bodyReader } from './hop/body-reader.ts';
import { percentEncoded } from './hop/fetch-hop.ts';
import { fileOf } from './hop/file.ts';
import { readDocument } from './hop/html-document.ts';
import { unquotedParts } from './hop/quoted.ts';
import { headReader, type ResponseHead } from './hop/response-head.ts';
import { shownAs } from './hop/shown.ts';
import { isCallbackName } from './web/api.ts';
import { isOwnRequest } from './web/expand-request.ts';
import { linksIn } from './web/pasted.ts';
import { documentTitle, urlParts } from './web/result.ts';
import { withoutTracking } from './web/tracking-parameters.ts';

const origins = { 'HTTP/1.1': await startOrigin(), 'HTTP/2': await startOrigin('HTTP/2') };
tls.setDefaultCACertificates([origins['HTTP/2'].certificate]);
const lookup: Lookup = async (name) =>
  name.endsWith('.h2.localhost') ? [{ address: '127.0.0.1', family: 4 }] : [];
const { app, expand, close } = testExpander({ lookup });
afterAll(async () => {
  close();
  for (const origin of Object.values(origins)) await origin.close();
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

/** Enough text that only scripts that change the location count. */
const readableText = 'a'.repeat(200);

/** Returns a new path each time, to avoid cache hits. */
const target = (protocol: Protocol = 'HTTP/1.1') => origins[protocol].target(randomUUID());
const get = async (query: string, headers = {}) => (await app.request(`/api?${query}`, { headers })).text();
const expandLines = async (body: string) =>
  (await app.request('/api/expand', { method: 'POST', body })).text();

interface Answered {
  urls?: number;
  piece?: number;
  protocol?: Protocol;
}

/** Expands new URLs of a website that sends this response. */
async function expandAnswer(head: string, body = '', { urls = 1, piece = 65_536, protocol }: Answered = {}) {
  await origins[protocol ?? 'HTTP/1.1'].answer({ bytes: `HTTP/1.1 ${head}\r\n\r\n${body}`, piece });
  await Promise.all(Array.from({ length: urls }, () => expand.chain(target(protocol), { follow: 'all' })));
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

/** Heads, and a body of small pieces, which a client reads differently in each protocol. */
const heads = (protocol: Protocol): Record<string, UntrustedInput> => ({
  Location: input(16_000, locations, (text) =>
    expandAnswer(`302 Found\r\nLocation: ${text.replace(/[\r\n]/g, '')}`, '', { protocol }),
  ),
  'Set-Cookie': input(15_000, cookie, (text) =>
    expandAnswer(`302 Found\r\nLocation: /\r\n${lines('Set-Cookie', text)}`, '', { protocol }),
  ),
  Refresh: input(16_000, [...words`0 ; , url = " ' .`, ' ', ...locations], (text) =>
    expandAnswer(`${page}\r\nRefresh: ${text}`, '', { protocol }),
  ),
  'header fields': input(16_000, [...words`: a`, ...[' ', '\t', '\r\n', '\n'], ...fields], (text) =>
    expandAnswer(`200 OK\r\n${text}`, '', { protocol }),
  ),
  'a body, byte by byte': input(16_384, markup, (text) => expandAnswer(page, text, { piece: 1, protocol })),
});

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
  "a wrapper's Location": input(
    16_000,
    words`* ** - _ __; /v3/__ %25 %2f -2F ;AAAA !! https://urldefense.com/v3/__`,
    (text) => expandAnswer(`302 Found\r\nLocation: https://urldefense.com/v3/__http://a/${text}__;eHh4!!`),
  ),
  "each line's Location": input(4_500, locations, async (text) => {
    await origins['HTTP/1.1'].answer({ bytes: `HTTP/1.1 302 Found\r\nLocation: http://${text}\r\n\r\n` });
    await expandLines(Array.from({ length: 48 }, () => target()).join('\n'));
  }),
  ...heads('HTTP/1.1'),
  ...Object.fromEntries(
    Object.entries(heads('HTTP/2')).map(([name, kind]) => [`${name}, over HTTP/2`, kind]),
  ),
  page: html(markup),
  'page with a script': html(
    [
      ...words`location window . = == href replace( { } " "\ ' \` \\ // /* */ </script><script>`,
      ...[' ', '\n'],
    ],
    (text) => `${readableText}<script>location ${text}</script>`,
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

test('the website of the inputs speaks HTTP/2', async () => {
  // In HTTP/1.1, this is no response.
  await origins['HTTP/2'].answer({ bytes: '? 204\r\n\r\n' });
  const { hops } = await expand.chain(target('HTTP/2'));
  expect(hops).toMatchObject([{ status: 204 }]);
});

testWorstInputs(inputs);

const site = new URL('http://a.example/a.pdf');
const from = { text: site.href, url: site };
const quoted = [...words`" \" "\ \ , ; = a % '`, ' ', '\t'];
const directives = [...quoted, ...words`max-age= s-maxage= private no- 9 - max-age includeSubDomains`];
const separators = [
  ...words`0 ; , url = " ' . 0;url= sandbox allow-scripts base-uri 'none' charset= /`,
  ' ',
  '\t',
];

/** Parses a head with any number of bytes. */
const readHead = (fields: string) =>
  headReader(Number.POSITIVE_INFINITY).read(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`);
const readPage = (markup: string, headers = {}) =>
  readDocument(
    site,
    { status: 200, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } },
    Buffer.from(markup, 'latin1'),
  );
const parser = (pieces: readonly string[], read: Parser['read'], size?: number): Parser => ({
  pieces,
  read,
  ...(size && { size }),
});
/** A parser of one header. Refresh: the longest value of a header that is parsed. */
const header = (name: string, pieces: readonly string[], read: (head: ResponseHead) => unknown) =>
  parser(pieces, (text) => read({ status: 200, headers: { [name]: text } }));

/** All parsers of untrusted text. Their texts are longer than any that they receive. */
const parsers: Record<string, Parser> = {
  'response head': parser([...words`: a`, ' ', '\t', '\r\n', '\n', ...fields], readHead),
  'repeated Content-Disposition': parser(
    quoted,
    (text) => readHead(`Content-Disposition: ,${text}`),
    // Longer values are omitted.
    4_000,
  ),
  'quoted strings': parser(quoted, (text) => [...unquotedParts(text, ',')]),
  'Content-Disposition': header(
    'content-disposition',
    [...quoted, ...words`filename= filename*= =?utf-8?q? =?gb18030?q?a?= ?= UTF-8'' x'' ;b= .`],
    (head) => [readDocument(site, head, Buffer.alloc(0)), fileOf(site, head)],
  ),
  'Content-Type': header('content-type', [...separators, 'text/html'], (head) => [
    shownAs(head),
    fileOf(site, head),
    readDocument(site, head, Buffer.from('a')),
  ]),
  'Content-Length': header('content-length', words`1 , 0 a`, ({ headers }) => bodyReader(headers, 9)),
  'Transfer-Encoding': header('transfer-encoding', [...words`chunked , a`, ' ', '\t'], ({ headers }) =>
    bodyReader(headers, 9),
  ),
  'Content-Security-Policy': header('content-security-policy', separators, ({ headers }) =>
    readPage('', headers),
  ),
  Refresh: header('refresh', separators, ({ headers }) => readPage('', headers)),
  'Strict-Transport-Security': parser(directives, readStrictTransport),
  'Cache-Control': header('cache-control', directives, ({ headers }) => responseFreshUntil(200, headers)),
  Expires: header('expires', words`1 : , Jan GMT + ( )`, ({ headers }) => responseFreshUntil(200, headers)),
  'Set-Cookie': parser([...words`a=1 a = ; Path=/ Domain= . Expires= Max-Age= 9 " , Jan`, ' '], (text) =>
    chainCookies().keep([text], site),
  ),
  'Set-Cookie, many': parser(
    ['a=1;', 'b', '=', ';', 'Path=/', 'Domain=a.example', ' '],
    (text) => chainCookies().keep(text.match(/.{1,100}/g) ?? [], site),
    32 * 1024,
  ),
  Location: parser(locations, (text) => resolveLocation(percentEncoded(text) ?? '', from)),
  wrapper: parser([...words`http:// * ! __ /v3/ %3A / a & u= url= _-eHh4 ? -3A`], (text) =>
    unwrap(new URL(`https://urldefense.com/v3/__http://a/${text}__;eHh4!!`)),
  ),
  page: parser(markup, readPage),
  'meta refresh': parser(separators, (text) => readPage(`<meta http-equiv=refresh content="${text}">`)),
  title: parser([...words`& &nbsp &amp; &#10; </ </title a`, ' ', '\n', '\0'], (text) =>
    readPage(`<title>${text}</title>`),
  ),
  script: parser(
    [...quoted, ...words`location window . = ( ) { } // /* */ \` \n document. .href`, '\\`', '\n'],
    (text) => readPage(`${readableText}<script>location ${text}</script>`),
  ),
  u: parser(urls, readTarget, maxLength),
  'pasted text': parser(
    [...urls, ...words`hxxp:// [.] ( ) [a]( http://a.example/ “ ‘ ,`, '\n'],
    linksIn,
    maxLength,
  ),
  "a URL's end": parser(words`( ) [ ] { } ' “ ” . , * a`, withoutEnd),
  "a URL's parts": parser(words`& a& /a ? # % http:// @ .`, (text) => urlParts(`http://a.example/${text}`)),
  'tracking parameters': parser(words`& a& utm_a=& utm_ = # ?`, (text) =>
    withoutTracking(`http://a.example/?${text}`),
  ),
  'document title': parser(urls, (text) => documentTitle(`http://${text}`)),
  list: parser(['\n', '\r', '\r\n', 'a\n', ' ', 'a'], (text) => readUrls(Buffer.from(text))),
  'JSON list': parser([...words`[ ] " , a \\ { }`, '[', '"a",', ' '], (text) =>
    readUrls(Buffer.from(`[${text}`), { isJson: true }),
  ),
  'CDN-Loop': parser([...quoted, 'longhand'], isOwnRequest),
  cb: parser(words`a . $ 0`, isCallbackName),
  'log line': parser(['{', '"', '\\', '\u001b', ':', '1', '[', '1:M '], formatLogLine),
};

testLinearTime(parsers);

/** Splits `text` into header fields of up to 100 characters. */
function lines(name: string, text: string): string {
  return (text.match(/.{1,100}/g) ?? []).map((value) => `${name}: ${value}`).join('\r\n');
}
