import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answering, website } from '../../testing/website.ts';
import { ExpansionError } from '../expansion/errors.ts';
import { createBrowse } from './browse.ts';
import type { Response } from './exchange.ts';

const response = (status: number, type = 'text/plain'): Response => ({
  status,
  headers: { 'content-type': type },
  addressFamily: 4,
  body: Buffer.alloc(0),
  isCut: false,
  source: null,
});

test('the title of a page is that of its hop, from the cache too, and costs no more requests', async () => {
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

test('a file gets its name and size; a page with a redirecting script gets a flag', async () => {
  const u = await website(({ url }, response) => {
    if (url === '/setup.exe')
      response.writeHead(200, { 'Content-Type': 'application/x-msdownload', 'Content-Length': 9 });
    else response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(url === '/setup.exe' ? '123456789' : '<script>location.href = "/there"</script>');
  });
  const { expand } = testExpander();
  const last = async (path: string) => (await expand.chain(u + path, { follow: 'all' })).hops.at(-1);
  expect(await last('/setup.exe')).toMatchObject({ file: { name: 'setup.exe', size: 9 } });
  expect(await last('/page')).toMatchObject({ scriptRedirect: true });
});

describe('follow=all sends GET as well', () => {
  test.each([
    ['204', { status: 204 }],
    ['304', { status: 304 }],
    ['with a length of 0', { headers: { 'content-type': 'text/plain', 'content-length': '0' } }],
    ['without a type, nosniff', { headers: { 'x-content-type-options': 'nosniff' } }],
  ])('if HEAD gets %s', async (_, head) => {
    const browse = createBrowse(async (_, { method }) =>
      method === 'HEAD' ? { ...response(200), ...head } : { ...response(302), headers: { location: '/x' } },
    );
    expect(await browse(new URL('http://a.example/'), {})).toMatchObject({ method: 'GET', location: '/x' });
  });

  test.each([200, 400, 401, 404, 406, 410, 415, 422, 429, 502, 503])(
    'if HEAD gets the error %i',
    async (status) => {
      const asked: string[] = [];
      const browse = createBrowse(async (_, { method }) => {
        asked.push(method);
        return response(status);
      });
      await browse(new URL('http://a.example/'), {});
      expect(asked).toEqual(status < 400 ? ['HEAD'] : ['HEAD', 'GET']);
    },
  );

  test.each([
    ['not answered in HTTP', (socket: Socket) => socket.end('?')],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('if HEAD is %s', async (_, refuse) => {
    const found = 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n';
    const url = await answering((socket, data) =>
      data.startsWith('GET') ? socket.end(found) : refuse(socket),
    );
    const { hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops).toMatchObject([{ method: 'GET', status: 302 }]);
  });

  test('and keeps the response to HEAD if GET fails', async () => {
    const browse = createBrowse(async (_, { method }) => {
      if (method === 'GET') throw new ExpansionError('request_failed', 'It is down.');
      return response(404);
    });
    expect(await browse(new URL('http://a.example/'), {})).toMatchObject({ status: 404, incomplete: true });
  });

  test('and remembers the URL, and after a second one its host, unless GET says the same', async () => {
    const asked: string[] = [];
    const browse = createBrowse(async ({ host, pathname }, { method }) => {
      asked.push(`${method} ${pathname}`);
      return response(method === 'GET' && host === 'picky.example' ? 200 : 404);
    });
    for (const path of ['/a', '/a', '/b', '/c']) await browse(new URL(path, 'http://picky.example'), {});
    expect(asked.splice(0)).toEqual(['HEAD /a', 'GET /a', 'GET /a', 'HEAD /b', 'GET /b', 'GET /c']);
    for (const path of ['/a', '/b', '/c']) await browse(new URL(path, 'http://plain.example'), {});
    expect(asked).toEqual(['HEAD /a', 'GET /a', 'HEAD /b', 'GET /b', 'HEAD /c', 'GET /c']);
  });
});

describe('a host that is silent on HEAD', () => {
  /** A website that answers GET alone, what it was asked, and an expander. */
  async function silent() {
    const asked: string[] = [];
    const url = await website(({ method, url = '' }, response) => {
      asked.push(`${method} ${url}`);
      if (method === 'GET') response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end();
    });
    const { expand } = testExpander();
    return { asked, ask: async (path: string) => (await expand.chain(url + path, { follow: 'all' })).hops };
  }

  test('gets GET after 1.5 s, and after a second URL only GET', async () => {
    const { asked, ask } = await silent();
    const hops = await ask('/a');
    expect(hops).toMatchObject([{ method: 'GET', status: 302 }]);
    expect(hops[0]?.milliseconds).toBeGreaterThan(1_450);
    for (const path of ['/b', '/c']) await ask(path);
    expect(asked).toEqual(['HEAD /a', 'GET /a', 'HEAD /b', 'GET /b', 'GET /c']);
  });

  test('gets GET even if 64 HEADs hang', { timeout: 90_000 }, async () => {
    const byGet = async () => {
      const { ask } = await silent();
      const chains = await Promise.all(Array.from({ length: 64 }, (_, i) => ask(`/${i}`)));
      return chains.filter(([first]) => first?.method === 'GET').length;
    };
    // On a busy machine hops time out.
    await expect.poll(byGet, { timeout: 80_000 }).toBe(64);
  });

  test('fails as GET does', async () => {
    const browse = createBrowse(async (_, { method }) => {
      if (method === 'GET') throw new ExpansionError('request_failed', 'It is down.');
      throw await new Promise((resolve) => setTimeout(resolve, 30, new Error('late')));
    }, 10);
    await expect(browse(new URL('http://a.example/'), {})).rejects.toMatchObject({ code: 'request_failed' });
  });

  test('may still respond to HEAD first: it is only slow', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const signals: (AbortSignal | undefined)[] = [];
    const browse = createBrowse(async (_, { method, signal }) => {
      signals.push(signal);
      await new Promise((resolve) => setTimeout(resolve, method === 'HEAD' ? 2_000 : 9_000));
      return response(200);
    });
    const answer = browse(new URL('http://a.example/'), {});
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await answer).toMatchObject({ method: 'HEAD', status: 200 });
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
  const gzipped = (body: Buffer) => gzipSync(body);
  const incompressible = randomBytes(20_000).toString('base64');
  /** A block of an invalid type follows. */
  const damaged = (text: string) =>
    Buffer.concat([deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }), Buffer.from([0xff])]);

  test('is read for a redirect', async () => {
    const browse = pages(async () => ({ ...response(200, 'text/html'), body: Buffer.from(markup) }));
    expect(await browse(new URL('http://a.example/'), {})).toMatchObject({
      method: 'GET',
      bytesRead: markup.length,
      refresh: { kind: 'meta', url: 'http://a.example/next' },
    });
  });

  test('that fails to load ends the chain, and keeps the facts of its headers', async () => {
    const browse = pages(() => Promise.reject(new ExpansionError('request_failed', 'It is down.')));
    const answer = await browse(new URL('http://a.example/'), {});
    expect(answer).toMatchObject({ method: 'HEAD', status: 200, incomplete: true });
    expect(answer.freshUntil).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  test.each([
    ['is shorter than announced', 'Content-Length: 500', (socket: Socket) => socket.end()],
    ['is reset', 'X: y', (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 50)],
    ['is slow', 'X: y', () => {}],
    [
      'has a malformed chunk',
      'Transfer-Encoding: chunked',
      (socket: Socket) => socket.write('5\r\nhello\r\n?\r\n'),
    ],
  ])('that %s leaves a result that is incomplete, and for 30 s at most', async (_, field, end) => {
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

  test('that ends with its connection is complete', async () => {
    const url = await answering((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>A</title>'),
    );
    const { hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(hops[0]).toMatchObject({ title: 'A' });
    expect(hops[0]).not.toHaveProperty('incomplete');
  });

  test('that does not arrive ends the chain before the time of the hop is over', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const answer = pages(() => new Promise(() => {}))(new URL('http://a.example/'), {});
    await vi.advanceTimersByTimeAsync(2_900);
    expect(await answer).toMatchObject({ method: 'HEAD', status: 200 });
  });

  test.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['gzip, gzip, gzip, gzip, gzip', (text) => [1, 2, 3, 4, 5].reduce(gzipped, Buffer.from(text))],
    ['gzip', (text) => Buffer.concat([gzipSync(text), Buffer.from('more')])],
    ['gzip', (text) => Buffer.concat([gzipSync(text).subarray(0, -8), Buffer.alloc(8)])],
    ['none', Buffer.from],
    ['UTF-8', Buffer.from],
    ['binary', Buffer.from],
  ])('that comes compressed as %s, although that was not asked for, is read', async (encoding, compress) => {
    const asked: IncomingHttpHeaders[] = [];
    const url = await website(({ headers, url }, response) => {
      asked.push(headers);
      if (url !== '/') return void response.end();
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': encoding });
      response.end(compress(markup));
    });
    const { longUrl, hops } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(longUrl).toBe(`${url}/next`);
    expect(hops[0]).toMatchObject({ kind: 'meta', method: 'GET', location: `${url}/next` });
    expect(asked[1]).toMatchObject({ 'accept-encoding': 'identity', 'upgrade-insecure-requests': '1' });
  });

  test.each<[string, string | Buffer, string]>([
    ['has more than 64 KiB', markup + ' '.repeat(64 * 1024), ''],
    ['has more than 512 open elements', markup + '<div>'.repeat(513), ''],
    ['has more than 10,000 elements', markup + '<br>'.repeat(10_001), ''],
    ['has six codings', markup, 'gzip,gzip,gzip,gzip,gzip,gzip'],
    ['is damaged', damaged(markup + incompressible), 'deflate'],
    ['is not compressed', markup, 'gzip'],
  ])('that %s is incomplete, but kept as long as others', async (_, body, encoding) => {
    const answer = { ...response(200, 'text/html'), body: Buffer.from(body) };
    answer.headers['content-encoding'] = encoding;
    const { incomplete, freshUntil, refresh } = await pages(async () => answer)(
      new URL('http://a.example/'),
      {},
    );
    expect({ incomplete, isRead: refresh !== undefined }).toEqual({
      incomplete: true,
      isRead: body !== markup,
    });
    expect(freshUntil).toBeGreaterThan(Date.now() + 60_000);
  });

  test('that is a compression bomb costs what 64 KiB cost', async () => {
    const url = await website((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' });
      response.end(bomb);
    });
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, '<b>'));
    const { end } = await testExpander().expand.chain(url, { follow: 'all' });
    expect(end.code).toBe('final');
  });
});
