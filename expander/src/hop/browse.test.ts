import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { hopRequest } from '../../testing/hop-request.ts';
import { answering, website } from '../../testing/website.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createBrowse } from './browse.ts';
import { decodeContent } from './content-encoding.ts';
import type { Response } from './exchange.ts';

const response = (status: number, type = 'text/plain'): Response => ({
  status,
  headers: { 'content-type': type },
  addressFamily: 4,
  body: Buffer.alloc(0),
  isCut: false,
  source: null,
});

test('a hop and its cache entry include the page title', async () => {
  let requests = 0;
  const u = await website((_, response) => {
    requests += 1;
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>A page</title>');
  });
  const { expand } = testExpander();
  for (const cached of [false, true]) {
    const { hops } = await expand.chain(u, { follow: 'all' });
    expect(hops).toMatchObject([{ title: 'A page', cached }]);
  }
  expect(requests).toBe(2);
});

// browsers.browser.test.ts tests more responses to HEAD.
describe('follow=all also sends GET', () => {
  test.each([
    ['unless HEAD redirects to another website', 302, 'http://b.example/', false],
    ['unless HEAD redirects to the same URL with https', 301, 'https://a.example/x', false],
    ['if HEAD redirects to another URL with https', 301, 'https://a.example/', true],
    ['if HEAD redirects to another host of the website', 302, 'http://www.a.example/', true],
    ['if HEAD redirects to an app', 302, 'mailto:a@b.example', true],
    ['if HEAD returns 200', 200, '', true],
  ])('%s', async (_, status, location, expectsGet) => {
    const browse = createBrowse(async () => ({ ...response(status), headers: { location } }));
    const { method } = await browse(new URL('http://a.example/x'), hopRequest());
    expect(method).toBe(expectsGet ? 'GET' : 'HEAD');
  });

  test.each([
    ['does not return HTTP', (socket: Socket) => socket.end('?')],
    ['is reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('if HEAD %s', async (_, refuse) => {
    const found = 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n';
    const url = await answering((socket, data) =>
      data.startsWith('GET') ? socket.end(found) : refuse(socket),
    );
    const { hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops).toMatchObject([{ method: 'GET', status: 302 }]);
  });

  test.each([
    [404, 'text/plain'],
    [200, 'text/html'],
  ])('but returns the response to HEAD if GET fails: %i, %s', async (status, type) => {
    const browse = createBrowse(async (_, { method }) => {
      if (method === 'GET') throw new ExpansionError('request_failed', 'It is down.');
      return response(status, type);
    });
    const result = await browse(new URL('http://a.example/'), hopRequest());
    expect(result).toMatchObject({ method: 'HEAD', status, incomplete: true });
    expect(result.freshUntil).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  test('alone to an origin whose responses to HEAD and GET have differed', async () => {
    const requests: string[] = [];
    const browse = createBrowse(async ({ host, pathname }, { method }) => {
      requests.push(`${method} ${pathname}`);
      return response(method === 'GET' && host === 'picky.example' ? 200 : 404);
    });
    const visit = async (host: string, paths: string) => {
      for (const path of paths) await browse(new URL(path, `http://${host}`), hopRequest());
      return requests.splice(0);
    };
    expect(await visit('picky.example', 'ab')).toEqual(['HEAD /a', 'GET /a', 'GET /b']);
    expect(await visit('plain.example', 'ab')).toEqual(['HEAD /a', 'GET /a', 'HEAD /b', 'GET /b']);
  });

  test('at once if HEAD could mislead the chain', async () => {
    const browse = createBrowse(async (_, { method }) => response(method === 'GET' ? 200 : 404));
    expect(await browse(new URL('http://a.example/'), hopRequest({}, { skipHead: true }))).toMatchObject({
      status: 200,
    });
  });
});

test.each([
  [2, 4],
  [5, 7],
])('a cold link of %i redirects between websites takes %i requests', async (redirects, requests) => {
  const received: string[] = [];
  const origin = await website(({ method, url = '', headers: { host = '' } }, response) => {
    received.push(`${method} ${url}`);
    const left = Number(url.slice(1));
    const location = `http://${left - 1}.example:${host.split(':')[1]}/${left - 1}`;
    response.writeHead(left > 0 ? 302 : 200, { 'Content-Type': 'text/html', Location: location }).end();
  });
  const { expand } = testExpander({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
  const { port } = new URL(origin);
  await expand.chain(`http://${redirects}.example:${port}/${redirects}`, { follow: 'all' });
  const heads = Array.from({ length: redirects + 1 }, (_, i) => `HEAD /${redirects - i}`);
  expect(received).toEqual([...heads, 'GET /0']);
  expect(received).toHaveLength(requests);
});

describe('a host that ignores HEAD', () => {
  test('receives GET after 1.5 s, and no HEAD for its next URLs', async () => {
    const requests: string[] = [];
    const origin = await website(({ method, url = '' }, response) => {
      requests.push(`${method} ${url}`);
      if (method === 'GET') response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end();
    });
    const { expand } = testExpander();
    const { hops } = await expand.chain(`${origin}/a`, { follow: 'all' });
    expect(hops).toMatchObject([{ method: 'GET', status: 302 }]);
    expect(hops[0]?.milliseconds).toBeGreaterThan(1_450);
    for (const path of ['/b', '/c']) await expand.chain(origin + path, { follow: 'all' });
    expect(requests).toEqual(['HEAD /a', 'GET /a', 'GET /b', 'GET /c']);
  });

  test('fails with the error of the GET request', async () => {
    const browse = createBrowse(async (_, { method }) => {
      if (method === 'GET') throw new ExpansionError('request_failed', 'It is down.');
      throw await new Promise((resolve) => setTimeout(resolve, 30, new Error('late')));
    }, 10);
    await expect(browse(new URL('http://a.example/'), hopRequest())).rejects.toMatchObject({
      code: 'request_failed',
    });
  });

  test('and waits for it without a negative timeout if the process was busy past the deadline', async () => {
    const warnings = vi.spyOn(process, 'emitWarning');
    onTestFinished(() => warnings.mockRestore());
    const browse = createBrowse(async (_, { method }) => {
      if (method === 'HEAD') return await new Promise<Response>(() => {});
      const end = performance.now() + 20;
      while (performance.now() < end);
      return response(200);
    }, 10);
    expect(await browse(new URL('http://a.example/'), hopRequest())).toMatchObject({ method: 'GET' });
    expect(warnings).not.toHaveBeenCalled();
  });

  test('can still redirect HEAD to another website after GET is sent', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const signals: (AbortSignal | undefined)[] = [];
    const browse = createBrowse(async (_, { method, signal }) => {
      signals.push(signal);
      await new Promise((resolve) => setTimeout(resolve, method === 'HEAD' ? 2_000 : 9_000));
      return { ...response(302), headers: { location: 'http://b.example/' } };
    });
    const result = browse(new URL('http://a.example/'), hopRequest());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await result).toMatchObject({ method: 'HEAD', status: 302 });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });
});

describe('a page', () => {
  const pages = (page: () => Promise<Response>) =>
    createBrowse(async (_, { method, bodyLimit }) => {
      const head = response(200, 'text/html');
      if (method === 'HEAD') return head;
      expect(bodyLimit?.(head)).toBe(64 * 1024);
      return page();
    });
  const markup = '<meta http-equiv="refresh" content="0;url=/next">';
  const incompressible = randomBytes(20_000).toString('base64');
  /** Compresses a text and appends an invalid block. */
  const damaged = (text: string) =>
    Buffer.concat([deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }), Buffer.from([0xff])]);

  const writeChunks = (socket: Socket) => socket.write('5\r\nhello\r\n?\r\n');
  test.each([
    ['is shorter than its Content-Length', 'Content-Length: 500', (socket: Socket) => socket.end()],
    ['is reset', 'X: y', (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 50)],
    ['is slow', 'X: y', () => {}],
    ['has a malformed chunk', 'Transfer-Encoding: chunked', writeChunks],
  ])('that %s is incomplete and cached for at most 30 s', async (_, field, end) => {
    const url = await answering((socket, data) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${field}\r\n`);
      socket.write(`Connection: close\r\n\r\n`);
      if (data.startsWith('HEAD')) socket.end();
      else end(socket);
    });
    const { hops, freshUntil } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops).toMatchObject([{ status: 200, method: 'GET', incomplete: true }]);
    expect(freshUntil).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  test.each([
    ['incomplete if a header that may redirect is', 'Refresh', true],
    ['incomplete if a header that may make it a file is', 'Content-Disposition', true],
    ['complete even if another header is', 'Link', undefined],
  ])('is %s longer than 4 KiB', async (_, name, incomplete) => {
    const url = await website((_, response) =>
      response
        .writeHead(200, { 'Content-Type': 'text/html', [name]: 'x'.repeat(5_000) })
        .end('<title>A</title>'),
    );
    const { hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops).toMatchObject([{ title: 'A' }]);
    expect(hops[0]?.incomplete).toBe(incomplete);
  });

  test('is complete when the server closes the connection', async () => {
    const url = await answering((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>A</title>'),
    );
    const { hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops[0]).toMatchObject({ title: 'A' });
    expect(hops[0]).not.toHaveProperty('incomplete');
  });

  test('is abandoned shortly before the hop times out', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const result = pages(() => new Promise(() => {}))(new URL('http://a.example/'), hopRequest());
    await vi.advanceTimersByTimeAsync(2_900);
    expect(await result).toMatchObject({ method: 'HEAD', status: 200 });
  });

  // browsers.browser.test.ts tests more encodings.
  test('is decompressed even though the request asked for identity', async () => {
    const requests: IncomingHttpHeaders[] = [];
    const url = await website(({ headers, url }, response) => {
      requests.push(headers);
      if (url !== '/') return void response.end();
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' });
      response.end(gzipSync(markup));
    });
    const { hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops[0]).toMatchObject({ kind: 'meta', method: 'GET', location: `${url}/next` });
    expect(hops[0]?.bytesRead).toBe(gzipSync(markup).length);
    expect(requests[1]).toMatchObject({ 'accept-encoding': 'identity', 'upgrade-insecure-requests': '1' });
  });

  test('is decompressed from gzip in parallel with other pages', async () => {
    const decode = (body: Buffer) => decodeContent(gzipSync(body), 'gzip', false, 64 * 1024);
    const others = Promise.all(Array.from({ length: 16 }, () => decode(randomBytes(60_000))));
    const first = decode(Buffer.from(markup)).then(() => 'first');
    expect(await Promise.race([first, others])).toBe('first');
    await others;
  });

  test('is not decompressed if its encoding is unknown', async () => {
    const body = gzipSync(markup);
    expect(await decodeContent(body, 'gzip gzip', false, 64)).toEqual({ content: body, isDamaged: false });
  });

  test.each<[string, string | Buffer, string]>([
    ['has more than 64 KiB', markup + ' '.repeat(64 * 1024), ''],
    ['has too many open elements', markup + '<div>'.repeat(3_000), ''],
    ['has more than 10,000 elements', markup + '<br>'.repeat(10_001), ''],
    ['is a compression bomb', gzipSync(markup + ' '.repeat(8 * 1024 * 1024)), 'gzip'],
    ['has six encodings', markup, 'gzip,gzip,gzip,gzip,gzip,gzip'],
    ['is damaged', damaged(markup + incompressible), 'deflate'],
    ['is not compressed', markup, 'gzip'],
  ])('that %s is incomplete, but cached as usual', async (_, body, encoding) => {
    const page = { ...response(200, 'text/html'), body: Buffer.from(body) };
    page.headers['content-encoding'] = encoding;
    const result = await pages(async () => page)(new URL('http://a.example/'), hopRequest());
    const { incomplete, freshUntil, refresh } = result;
    expect([incomplete, refresh !== undefined]).toEqual([true, body !== markup]);
    expect(freshUntil).toBeGreaterThan(Date.now() + 60_000);
  });
});
