import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { patience } from '@longhand/shared/testing/attack.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import {
  type Dear,
  type Place,
  routeTargets,
  type Targets,
  testAttacks,
} from '@longhand/shared/testing/route-attack.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, expect, test } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { hopRequest } from '../testing/hop-request.ts';
import { type Protocol, startOrigin } from '../testing/origin.ts';
import { words } from '../testing/pieces.ts';
import { expand, runService } from '../testing/process.ts';
import { createBrowse } from './hop/browse.ts';

/** The attacker's websites. */
const hostile = { 'HTTP/1.1': await startOrigin(), 'HTTP/2': await startOrigin('HTTP/2') };
await hostile['HTTP/1.1'].answer({ bytes: 'HTTP/1.1 200 OK\r\n\r\n' });
/** A typical website has a latency of 20 ms. */
const site = http.createServer((_, response) => void setTimeout(() => response.end(), 20));
const quick = `http://127.0.0.1:${await listening(site)}`;
const { app, close } = testExpander();
const stops: (() => void)[] = [];
afterAll(async () => {
  for (const stop of stops) stop();
  close();
  cutOff(site);
  for (const origin of Object.values(hostile)) await origin.close();
});

const attacker = { 'X-Forwarded-For': '192.0.2.1' };
const list = {
  size: 8_000_000,
  pieces: ['a\n', '\n', 'a', '[', '"a",', '漢', '%cc%81', `http://127.0.0.1:1/${'%&'.repeat(380)}\n`],
};

const routes = routeTargets({
  routes: app.routes,
  maxPath: 16 * 1024 - ' HTTP/1.1'.length,
  parameters: words`u url text title exactly again cb err format follow key`,
  query: `u=${hostile['HTTP/1.1'].target('{n}')}`,
  headers: () => attacker,
  bodies: {
    '/api/expand': {
      lines: { ...list, type: 'text/plain' },
      array: { ...list, type: 'application/json', text: (text) => JSON.stringify(text.split('\n')) },
      JSON: { ...list, type: 'application/json' },
    },
  },
});

/** Maximum characters of a header that is parsed, and of those that may fill the head. */
const [header, head] = [4 * 1024, 15 * 1024];
const quoted = [...words`" "\ \" \ , ; = a % 0 ' . /`, ' ', '\t'];
interface HeaderInput {
  size?: number;
  pieces: readonly string[];
}

const headers: Record<string, HeaderInput> = {
  'Cache-Control': { pieces: [...quoted, 'max-age=', 'private'] },
  'Clear-Site-Data': { pieces: [...quoted, '"cookies"'] },
  'Content-Disposition': { pieces: [...quoted, ',"', 'filename=', "filename*=UTF-8''%", '=?utf-8?q?'] },
  'Content-Encoding': { pieces: [...quoted, 'gzip,'] },
  'Content-Length': { pieces: [...quoted, '1,'] },
  'Content-Security-Policy': { size: head, pieces: [...quoted, 'sandbox ', "base-uri 'none' "] },
  'Content-Type': { pieces: [...quoted, 'text/html,', 'charset='] },
  'Keep-Alive': { pieces: [...quoted, 'timeout='] },
  'Referrer-Policy': { pieces: [...quoted, 'no-referrer', 'unsafe-url,'] },
  'Set-Cookie': { pieces: [...quoted, 'a=1;', 'Path=/;', 'Domain=.;', 'Expires='] },
  'Strict-Transport-Security': { pieces: [...quoted, 'max-age=', 'includeSubDomains'] },
  'Transfer-Encoding': { pieces: [...quoted, 'chunked,'] },
  Age: { pieces: [...quoted, '1'] },
  Connection: { pieces: [...quoted, 'close', 'keep-alive'] },
  Date: { pieces: [...quoted, '1 Jan '] },
  Expires: { pieces: [...quoted, '1 Jan '] },
  Location: { size: head, pieces: [...quoted, '&a', '%cc%81', '\xcc\x81', 'a.', '@', 'http://'] },
  Refresh: { pieces: [...quoted, '0;url=', '0;url="'] },
  'X-Content-Type-Options': { pieces: quoted },
  a: { size: head, pieces: [...quoted, '\r\n ', '\r\na:', 'a: b\r\n'] },
};

/** Requests the page of a URL whose website sends this response. */
const visit =
  (response: (text: string) => string, protocol: Protocol = 'HTTP/1.1') =>
  async (text: string) => {
    await hostile[protocol].answer({ bytes: `HTTP/1.1 ${response(text)}` });
    return { method: 'GET', path: `/?u=${hostile[protocol].target('{n}')}`, headers: attacker };
  };

/** Each redirect leads to a longer path, so that a chain has as many hops as possible. */
const redirect = '302 Found\r\nLocation: a/';
const page = '200 OK\r\nContent-Type: text/html';
const next = '<meta http-equiv="refresh" content="0;url=a/">';

const inHeader = (name: string, { size = header, pieces }: HeaderInput, protocol?: Protocol) => {
  const place = (start: string): Place => ({
    size,
    pieces,
    request: visit((text) => `${start}\r\n${name}: ${text}\r\n\r\n`, protocol),
  });
  if (name === 'Location') {
    const response = (text: string) => `302 Found\r\nLocation: a/?${text}\r\n\r\n`;
    const cached = async (text: string) => {
      const request = await visit(response, protocol)(text);
      return { ...request, path: request.path.replace('{n}', randomUUID()) };
    };
    return {
      'of redirects': { size, pieces, request: visit(response, protocol) },
      'of cached redirects': { size, pieces, request: cached },
    };
  }
  return { 'of a page': place(page), 'of redirects': place(redirect) };
};

const body = (pieces: readonly string[], content: (text: string) => string, fields = ''): Place => ({
  size: 64 * 1024,
  pieces,
  request: visit((text) => `${page}${fields}\r\n\r\n${content(text)}`),
});
const markup = [
  ...words`< </ &# <!-- <p> <b> <i> <a> <nobr> <table> <select> <svg> <math> <template> <meta <base`,
  '<meta http-equiv=refresh content="0;url=a">',
];

/** Everything that the expander reads from websites. */
const outside: Targets = {
  ...Object.fromEntries(
    Object.entries(headers).flatMap(([name, input]) => [
      [`website's ${name}`, inHeader(name, input)],
      [`website's ${name} over HTTP/2`, inHeader(name, input, 'HTTP/2')],
    ]),
  ),
  "website's page": {
    markup: body(markup, (text) => next + text),
    title: body([...words`a & &nbsp; &#10; </`, ' ', '\xcc\x81'], (text) => `${next}<title>${text}`),
    script: body(
      [...quoted, '`\\', '/*', '//', '{', '}', 'location', 'location.href'],
      (text) => `${next}${'a'.repeat(200)}<script>location ${text}</script>`,
    ),
    attributes: body([...quoted, 'a="" ', 'onload=""'], (text) => `${next}<p ${text}>`),
    chunks: body(
      ['1\r\na\r\n', '1;a\r\na\r\n', '\r\n', 'f', ';'],
      (text) => text,
      '\r\nTransfer-Encoding: chunked',
    ),
  },
};

test('the attack has every header that a hop reads', async () => {
  const read = new Set<string>();
  const watched = (given: Record<string, string>) =>
    new Proxy(given, {
      get(target, name) {
        read.add(`${String(name)}`);
        return Reflect.get(target, name);
      },
    });
  const responses: Record<string, string>[] = [
    {},
    { 'content-type': 'text/html', 'cache-control': 'max-age=1' },
    { 'content-type': 'text/plain', expires: '0' },
    { 'content-disposition': 'attachment' },
  ];
  for (const given of responses) {
    const browse = createBrowse(async () => ({
      ...{ status: 200, headers: watched(given), addressFamily: 4, isCut: false, source: null },
      body: Buffer.from('a'),
    }));
    await browse(new URL('https://a.example/'), hopRequest());
  }
  expect(read.size).toBeGreaterThan(10);
  expect(Object.keys(headers).map((name) => name.toLowerCase())).toEqual(expect.arrayContaining([...read]));
});

/** The dearest inputs of the last run of `make test-long`, from out/attack-expander.md. */
const dearest: readonly Dear[] = [
  { target: 'GET /', place: 'parameter text', units: ['%20http://a.b/c'] },
  { target: 'GET /nowhere/*', place: 'path', units: ['%ff%'] },
  { target: 'GET /api', place: 'query', units: ['%&'] },
  { target: 'POST /api/expand', place: 'lines', units: ['\n'] },
  { target: "website's Content-Disposition", place: 'of redirects', units: ['\\"'], start: ',"', end: '\\' },
  { target: "website's Location", place: 'of cached redirects', units: ['&a'] },
  { target: "website's Set-Cookie", place: 'of redirects', units: ['"'] },
  { target: "website's Set-Cookie over HTTP/2", place: 'of redirects', units: ['"'] },
  { target: "website's page", place: 'markup', units: ['<nobr>'] },
];

testAttacks({
  targets: { ...routes, ...outside },
  dearest,
  report: 'attack-expander.md',
  async start() {
    const trust = { NODE_EXTRA_CA_CERTS: textFile(hostile['HTTP/2'].certificate) };
    const [attacked, quiet] = [await runService([], trust), await runService([], trust)];
    stops.push(attacked.stop, quiet.stop);
    return { attacked, quiet };
  },
  neighbour: (url) =>
    expand(url, `${quick}/${randomUUID()}`, '192.0.2.2', { signal: AbortSignal.timeout(patience) }),
});
