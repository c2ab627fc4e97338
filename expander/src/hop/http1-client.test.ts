import { lookup as systemLookup } from 'node:dns';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { createServer, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { cutOff, listening, noDelay } from '@longhand/shared/testing/listening.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bodyReader } from './body-reader.ts';
import { connector, openSocket } from './connect.ts';
import { http1Client } from './http1-client.ts';
import { headReader } from './response-head.ts';

const certificate = await testCertificate();

/** Starts a server that counts its total and open connections. */
async function listen(answer: RequestListener, scheme: 'http' | 'https' = 'http') {
  const server = scheme === 'http' ? http.createServer(answer) : https.createServer(certificate, answer);
  const connections = { seen: 0, open: 0 };
  server.on(scheme === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections.seen += 1;
    connections.open += 1;
    socket.once('close', () => {
      connections.open -= 1;
    });
  });
  onTestFinished(() => cutOff(server));
  return { server, connections, url: new URL(`${scheme}://localhost:${await listening(server)}/`) };
}

/** Creates a client and lists the sockets that it opens. */
function client(lookup: LookupFunction = systemLookup) {
  const sockets: Socket[] = [];
  const connect = connector(lookup, (protocol, options) => {
    sockets.push(openSocket(protocol, { ...options, ca: certificate.cert }));
    return sockets.at(-1) as Socket;
  });
  const { request, close } = http1Client(connect);
  onTestFinished(close);
  return { request, sockets };
}

const head = { method: 'HEAD' } as const;
const answer: RequestListener = (_, res) => res.end('ok');

test.each(['http', 'https'] as const)(
  'reuses a connection with TCP no-delay once it has cooled down: %s',
  async (scheme) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, connections } = await listen(answer, scheme);
    const { request: ask, sockets } = client();
    await ask(url, head);
    for (let i = 0; i < 4; i += 1) {
      await ask(url, head);
      vi.advanceTimersByTime(50);
    }
    expect(connections.seen).toBe(1);
    expect(sockets.map(noDelay)).toEqual([true]);
    for (let i = 0; i < 2; i += 1) await ask(url, head);
    expect(connections.seen).toBe(2);
  },
);

test('needs no cooldown while all responses have `Content-Length: 0`', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, connections } = await listen((request, response) => {
    response.setHeader('Content-Length', request.url === '/page' ? 2 : 0).end();
  });
  const { request: ask } = client();
  for (let i = 0; i < 4; i += 1) await ask(url, head);
  expect(connections.seen).toBe(1);
  // A late body can shift all later responses, even if they are empty.
  await ask(new URL('/page', url), head);
  await ask(url, head);
  expect(connections.seen).toBe(2);
});

test('opens at most 64 connections to an origin, even if all of them cool down', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, connections } = await listen(answer);
  const { request: ask } = client();
  const send = (method: 'HEAD' | 'GET') =>
    Promise.all(Array.from({ length: 50 }, (_, i) => ask(new URL(`/${i}`, url), { method })));
  for (let i = 0; i < 5; i += 1) await send('HEAD');
  expect(connections).toEqual({ seen: 64, open: 64 });
  await Promise.all([send('GET'), expect.poll(() => connections.seen).toBeGreaterThan(64)]);
  expect(connections.open).toBeLessThanOrEqual(64);
});

test.each([
  ['1 s before the server does', 2_000, 1_000],
  ['after at most 4 s', 60_000, 4_000],
])('closes an idle connection %s', async (_, keepAliveTimeout, time) => {
  const { url, server, connections } = await listen(answer);
  server.keepAliveTimeout = keepAliveTimeout; // Node sends `Keep-Alive: timeout=…`.
  const { request: ask, sockets } = client();
  await ask(url, head);
  expect(sockets.map(({ timeout }) => timeout)).toEqual([time]);
  if (time < 4_000) await expect.poll(() => connections.open).toBe(0);
});

test('reuses connections to an origin whose first response was not HTTP', async () => {
  const { url, server, connections } = await listen(answer);
  server.prependOnceListener('connection', (socket: Socket) => void socket.write('This is not HTTP.'));
  const { request: ask } = client();
  await expect(ask(url, head)).rejects.toMatchObject({ code: 'ERR_NOT_HTTP' });
  for (let i = 0; i < 2; i += 1) await ask(url, head);
  expect(connections.seen).toBe(2);
});

test('reuses a connection after HEAD for GET only if all its requests had the same URL', async () => {
  const { url, connections } = await listen(answer);
  const { request: ask } = client();
  await ask(url, head);
  await ask(new URL('/other', url), { method: 'GET' });
  expect(connections.seen).toBe(2);
  await ask(url, { method: 'GET' });
  expect(connections.seen).toBe(2);
});

describe('a response to GET whose body is not wanted', () => {
  const redirect = (more: string) => `HTTP/1.1 301 Moved\r\nLocation: /\r\n${more}`;

  /** Sends two GETs to different URLs of a server that sends `parts`. @returns whether each connection has been closed. */
  async function closedAfter(parts: readonly string[]) {
    const server = createServer({ noDelay: true }, (socket) => {
      socket
        .on('error', () => {})
        .on('data', async () => {
          for (const [i, part] of parts.entries()) {
            if (i > 0) await sleep(10);
            socket.write(part);
          }
        });
    });
    onTestFinished(() => void server.close());
    const url = new URL(`http://localhost:${await listening(server)}/`);
    const { request: ask, sockets } = client();
    for (const path of ['/a', '/b'])
      expect(await ask(new URL(path, url), { method: 'GET' })).toMatchObject({ status: 301 });
    return sockets.map(({ destroyed }) => destroyed);
  }

  test.each([
    ['is empty', ['Content-Length: 0\r\n\r\n']],
    ['arrives with the head', ['Content-Length: 5\r\n\r\nhello']],
    ['is chunked and empty', ['Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n']],
  ])('keeps the connection for any URL, without a cooldown, if the body %s', async (_, [first, ...rest]) => {
    expect(await closedAfter([redirect(`${first}`), ...rest])).toEqual([false]);
  });

  test.each([
    ['arrives later', ['Content-Length: 5\r\n\r\n', 'hello']],
    ['is longer than stated', ['Content-Length: 4\r\n\r\nhello']],
    ['is not empty as stated', ['Content-Length: 0\r\n\r\nhello']],
    ['has an empty length', ['Content-Length:\r\n\r\n']],
    ['has no length', ['\r\n']],
    ['is chunked', ['Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n']],
    ['ends with the connection', ['Content-Length: 0\r\nConnection: close\r\n\r\n']],
  ])('closes the connection if the body %s', async (_, [first, ...rest]) => {
    expect(await closedAfter([redirect(`${first}`), ...rest])).toEqual([true, true]);
  });

  test('is requested again if it arrives together with other bytes on a reused connection', async () => {
    const empty = (path: string) => `HTTP/1.1 301 Moved\r\nLocation: ${path}\r\nContent-Length: 0\r\n\r\n`;
    const replies = [
      empty('/one'),
      empty('/forged') + empty('/two'),
      'HTTP/1.1 301 Moved\r\nLocation: /two\r\n\r\n',
    ];
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('data', () => void socket.write(replies.shift() ?? ''));
    });
    onTestFinished(() => void server.close());
    const url = new URL(`http://localhost:${await listening(server)}/`);
    const { request: ask, sockets } = client();
    const locations = [];
    for (const path of ['/a', '/b'])
      locations.push((await ask(new URL(path, url), { method: 'GET' })).headers.location);
    expect(locations).toEqual(['/one', '/two']);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  test('is marked if unsolicited bytes follow it on a reused connection', async () => {
    const sockets: Socket[] = [];
    const { url } = await listen((request, response) => {
      sockets.push(request.socket);
      response.writeHead(301, { 'Content-Length': 0 }).end();
    });
    const { request: ask } = client();
    const sources: unknown[] = [];
    for (const path of ['/a', '/b']) sources.push((await ask(new URL(path, url), { method: 'GET' })).source);
    expect(sources).toEqual([null, { hasStrayed: false }]);
    sockets[0]?.write(redirect('Content-Length: 0\r\n\r\n'));
    await expect.poll(() => sources).toEqual([null, { hasStrayed: true }]);
    await ask(url, { method: 'GET' });
    await ask(url, { method: 'GET' });
    expect(new Set(sockets).size).toBe(3);
  });
});

test('resumes the TLS session on the next connection', async () => {
  const resumed: boolean[] = [];
  const { url } = await listen((req, res) => {
    resumed.push((req.socket as unknown as { isSessionReused(): boolean }).isSessionReused());
    res.setHeader('Connection', 'close').end();
  }, 'https');
  const { request: ask } = client();
  for (let i = 0; i < 2; i += 1) await ask(url, head);
  expect(resumed).toEqual([false, true]);
});

test('keeps at most 256 idle connections', async () => {
  const waiting: http.ServerResponse[] = [];
  const { url, connections } = await listen((_, response) => {
    if (waiting.push(response) === 300) for (const each of waiting) each.end();
  });
  const { request: ask } = client();
  await Promise.all(Array.from({ length: 300 }, () => ask(url, head)));
  await expect.poll(() => connections.open).toBe(256);
});

test('an aborted request closes its connection even before it is open', async () => {
  const { request: ask, sockets } = client(() => {});
  const abort = new AbortController();
  const response = ask(new URL('http://slow.example/'), { ...head, signal: abort.signal });
  abort.abort(new Error('aborted'));
  await expect(response).rejects.toThrow('aborted');
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
});

describe('a stale connection', () => {
  test('causes a retry on a new connection', async () => {
    const seen: string[] = [];
    const used = new WeakSet<Socket>();
    const { url } = await listen((req, res) => {
      seen.push(req.method as string);
      if (used.has(req.socket)) return req.socket.resetAndDestroy();
      used.add(req.socket);
      res.end('ok');
    });
    const { request: ask } = client();
    await Promise.all([ask(url, head), ask(url, head)]);
    expect(await ask(url, head)).toMatchObject({ status: 200 });
    expect(seen).toEqual(['HEAD', 'HEAD', 'HEAD', 'HEAD']);
  });

  test('is not reused after the server closed it', async () => {
    const { url, server, connections } = await listen(answer);
    const { request: ask } = client();
    await ask(url, head);
    server.closeIdleConnections();
    expect(await ask(url, head)).toMatchObject({ status: 200 });
    expect(connections.seen).toBe(2);
  });
});

test('a request fails without a retry if the server resets a new connection', async () => {
  let seen = 0;
  const { url } = await listen((req) => {
    seen += 1;
    req.socket.resetAndDestroy();
  });
  await expect(client().request(url, head)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(seen).toBe(1);
});

test('a GET without a body limit closes the connection after the head', async () => {
  const { url, connections } = await listen((_, res) => void res.write('the first piece'));
  expect(await client().request(url, { method: 'GET' })).toMatchObject({ status: 200, addressFamily: 4 });
  await expect.poll(() => connections.open).toBe(0);
});

describe('the start of a body', () => {
  const [longest, longer] = [4_092, 4_093].map((length) => `1;${'x'.repeat(length)}\r\n`);
  const longLines = `Transfer-Encoding: chunked\r\n\r\n${longest}a\r\n${longer}b\r\n`;

  test.each([
    ['up to its Content-Length', 'Content-Length: 5\r\n\r\nhello, and more', 'hello'],
    ['up to the limit', 'Content-Length: 500\r\n\r\nhello, and more', 'hello, and'],
    ['up to its end', '\r\nhello', 'hello'],
    ['even if it is truncated', 'Content-Length: 500\r\n\r\nhello', 'hello'],
    ['up to its end if the Content-Length is empty', 'Content-Length:\r\n\r\nhello', 'hello'],
    ['up to its end if the Content-Length is not a number', 'Content-Length: 5x\r\n\r\nhello', 'hello'],
    ['as empty if the Content-Length is 0', 'Content-Length: 0\r\n\r\nhello', ''],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nhe\n\r\n002;x=y\r\nlo\r\n0\r\n\r\n', 'he\nlo'],
    ['in chunks up to the limit', 'Transfer-Encoding: chunked\r\n\r\nff\r\nhello, and more', 'hello, and'],
    ['in chunks up to a malformed chunk', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\nlo\r\n9\r\n', 'he'],
    ['in chunks whose lines end with LF', 'Transfer-Encoding: chunked\r\n\r\n2\nhe\n1\nl\n0\n\n', 'hel'],
    ['in chunks up to a second empty line', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n\r\n1\r\nl', 'he'],
    ['in chunks up to a chunk header of more than 4,096 characters', longLines, 'a'],
    ['as bytes', 'Content-Length: 4\r\n\r\n\xc3\xa9\x00\xff', '\xc3\xa9\x00\xff'],
  ])('is read %s, whole or byte by byte', (_, sent, body) => {
    const { head, rest } = headReader().read(`HTTP/1.1 200 OK\r\n${sent}`) ?? expect.fail();
    for (const pieces of [[rest], rest.split('')]) {
      const reader = bodyReader(head.headers, 10);
      pieces.some((piece) => reader.read(piece));
      expect(reader.body().toString('latin1')).toBe(body);
    }
  });
});

test('rejects a header that contains a line break', async () => {
  const headers = ['X', 'a\r\nHost: elsewhere.example'];
  const response = client().request(new URL('http://127.0.0.1/'), { ...head, headers });
  await expect(response).rejects.toThrow(TypeError);
});
