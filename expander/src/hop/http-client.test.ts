import { lookup as systemLookup } from 'node:dns';
import http2, { type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { listening, noDelay } from '@longhand/shared/testing/listening.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { http2Peer, type PeerRequest } from '../../testing/http2-peer.ts';
import { connector, openSocket } from './connect.ts';
import { httpClient } from './http-client.ts';

const certificate = await testCertificate('*.site.example');
const head = { method: 'HEAD' } as const;
type Respond = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

const answer: Respond = (_, response) => void response.end('ok');

/** Starts a server for HTTP/1.1, or for both versions. It counts its connections. */
async function listen(respond = answer, versions: 1 | 2 = 2) {
  const server =
    versions === 1
      ? https.createServer(certificate, respond as never)
      : http2.createSecureServer({ ...certificate, allowHTTP1: true }, respond);
  const connections = { seen: 0, resumed: 0, open: 0 };
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: TLSSocket) => {
    connections.seen += 1;
    connections.open += 1;
    if (socket.isSessionReused()) connections.resumed += 1;
    sockets.add(socket);
    socket.once('close', () => {
      connections.open -= 1;
      sockets.delete(socket);
    });
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { connections, url: new URL(`https://localhost:${await listening(server)}/`) };
}

/** Creates a client and lists the sockets that it opens. */
function client(lookup: LookupFunction = systemLookup, headers: string[] = []) {
  const sockets: Socket[] = [];
  const connect = connector(lookup, (protocol, options) => {
    sockets.push(openSocket(protocol, { ...options, ca: certificate.cert }));
    return sockets.at(-1) as Socket;
  });
  const { request, close } = httpClient(connect, headers);
  onTestFinished(close);
  const send = (url: URL, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => request(new URL(`/${i}`, url), head)));
  return { request, send, close, sockets };
}

test('requests to an origin with HTTP/2 share one connection with TCP no-delay', async () => {
  const versions: string[] = [];
  const { url, connections } = await listen((request, response) => {
    versions.push(request.httpVersion);
    response.end();
  });
  const { send, sockets } = client();
  for (let i = 0; i < 2; i += 1) await send(url, 50);
  expect(connections.seen).toBe(1);
  expect(sockets.map(noDelay)).toEqual([true]);
  expect(versions).toEqual(Array(100).fill('2.0'));
});

test('responses that arrive together are passed on in several turns, so that the next requests start early', async () => {
  const requests: PeerRequest[] = [];
  const { url } = await http2Peer(
    (request) => {
      requests.push(request);
      if (requests.length === 40) request.send(...requests.map((each) => each.head()));
    },
    { certificate },
  );
  const { request } = client();
  let turn = 0;
  const count = () => {
    turn += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  onTestFinished(() => clearImmediate(timer));
  const turns = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      await request(new URL(`/${i}`, url), head);
      return turn;
    }),
  );
  expect(new Set(turns).size).toBeGreaterThanOrEqual(10);
});

test('a server without HTTP/2 gets HTTP/1.1, also on the first connection', async () => {
  const { url, connections } = await listen(answer, 1);
  const { request, send } = client();
  expect(await request(url, { method: 'GET', bodyLimit: () => 5 })).toMatchObject({
    status: 200,
    body: Buffer.from('ok'),
  });
  expect(connections.seen).toBe(1);
  await send(url, 10);
  expect(connections.seen).toBeLessThanOrEqual(11);
});

test('resumes the TLS session on the next connection', async () => {
  const { url, connections } = await listen((request, response) => {
    response.end();
    if (request.url === '/close') response.stream.session?.close();
  });
  const { request } = client();
  for (const path of ['/close', '/']) await request(new URL(path, url), head);
  expect(connections).toMatchObject({ seen: 2, resumed: 1 });
});

test('sends the same headers as HTTP/1.1, but none that HTTP/2 forbids', async () => {
  const received: unknown[] = [];
  const { url } = await listen(({ headers, method }, response) => {
    received.push([method, Object.entries(headers)]);
    response.end();
  });
  const { request } = client(systemLookup, ['User-Agent', 'test', 'CDN-Loop', 'longhand']);
  await request(new URL('/a?b#c', url), { method: 'GET', headers: ['Cookie', 'a=\xe9; b=1'] });
  expect(received).toEqual([
    [
      'GET',
      [
        [':method', 'GET'],
        [':authority', url.host],
        [':scheme', 'https'],
        [':path', '/a?b'],
        ['user-agent', 'test'],
        ['cdn-loop', 'longhand'],
        ['cookie', 'a=\xe9; b=1'],
      ],
    ],
  ]);
});

test('rejects a header that contains a line break', async () => {
  const { url } = await listen();
  const headers = ['X', 'a\r\nHost: elsewhere.example'];
  await expect(client().request(url, { ...head, headers })).rejects.toThrow(TypeError);
});

describe('a response over HTTP/2', () => {
  test('is the same as over HTTP/1.1', async () => {
    const respond: Respond = (_, response) => {
      response.writeHead(
        302,
        [
          ['Location', '/\xe9'],
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X', '1'],
          ['X', '2'],
          ['Date', 'now'],
        ].flat(),
      );
      response.end('a body');
    };
    const [first, second] = [await listen(respond, 1), await listen(respond, 2)];
    const { request } = client();
    const get = { method: 'GET', bodyLimit: () => 4 } as const;
    const [
      {
        headers: { connection, 'keep-alive': _, 'transfer-encoding': __, ...headers },
        ...other
      },
      response,
    ] = [await request(first.url, get), await request(second.url, get)];
    expect(response).toEqual({ ...other, headers });
  });

  test.each([
    ['whole', 100, false, 'ok'],
    ['up to the limit', 1, false, 'o'],
  ])('has a body that is read %s', async (_, limit, isCut, body) => {
    const { url } = await listen();
    expect(await client().request(url, { method: 'GET', bodyLimit: () => limit })).toMatchObject({
      isCut,
      body: Buffer.from(body),
    });
  });

  test.each<[string, Respond]>([
    ['slow', (_, response) => void response.write('start')],
    ['reset', (_, response) => response.write('start', () => response.stream.close(2))],
  ])('is cut if the body is %s', async (_, respond) => {
    const { url } = await listen(respond);
    const response = await client().request(url, { method: 'GET', bodyLimit: () => 100 });
    expect(response).toMatchObject({ status: 200, isCut: true, body: Buffer.from('start') });
  });

  test('is cut if the connection closes', async () => {
    const { url } = await http2Peer(
      (request) => {
        request.send(request.head([], { isEnd: false }), request.data('start', false));
        request.socket.end();
      },
      { certificate },
    );
    const response = await client().request(url, { method: 'GET', bodyLimit: () => 100 });
    expect(response).toMatchObject({ status: 200, isCut: true, body: Buffer.from('start') });
  });

  test('does not wait for an endless body', async () => {
    const closed = Promise.withResolvers<void>();
    const { url, connections } = await listen((_, response) => {
      const fill = () => {
        while (!response.closed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', fill).on('close', closed.resolve);
      fill();
    });
    const { request } = client();
    expect(await request(url, { method: 'GET', bodyLimit: () => 10 })).toMatchObject({
      body: Buffer.from('x'.repeat(10)),
    });
    await closed.promise;
    expect(connections).toMatchObject({ seen: 1, open: 1 });
  });
});

test('bodies do not wait for each other', async () => {
  const body = 'x'.repeat(60_000);
  const { url } = await listen(({ url }, response) => {
    if (url === '/slow') response.write(body);
    else response.end(body);
  });
  const { request } = client();
  const get = { method: 'GET', bodyLimit: () => 64_000 } as const;
  const slow = Array.from({ length: 20 }, () => request(new URL('/slow', url), get));
  const quick = await request(url, get);
  expect(quick.body.length).toBe(60_000);
  await Promise.all(slow);
});

describe('a connection that is being opened', () => {
  /** A lookup that waits for `answer`. */
  function manualLookup() {
    const { promise, resolve } = Promise.withResolvers<void>();
    const lookup: LookupFunction = (name, options, callback) =>
      void promise.then(() => systemLookup(name, options, callback));
    return { lookup, resolve };
  }

  test('closes once no request waits for it', async () => {
    const { lookup } = manualLookup();
    const { request, sockets } = client(lookup);
    const aborts = [new AbortController(), new AbortController()];
    const url = new URL('https://slow.example/');
    const responses = aborts.map(({ signal }) => request(url, { ...head, signal }));
    const results = Promise.allSettled(responses);
    aborts[0]?.abort(new Error('the first'));
    await expect(responses[0]).rejects.toThrow('the first');
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false]);
    aborts[1]?.abort(new Error('the second'));
    await results;
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  test('serves the requests that still wait', async () => {
    const { url, connections } = await listen();
    const { lookup, resolve } = manualLookup();
    const { request } = client(lookup);
    const abort = new AbortController();
    const left = request(url, { ...head, signal: abort.signal });
    const others = [request(url, head), request(url, head)];
    abort.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    resolve();
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    expect(connections.seen).toBe(1);
  });

  test('fails all requests that wait for it', async () => {
    const { request } = client((name, _, callback) =>
      callback(Object.assign(new Error(name), { code: 'ENOTFOUND' }), ''),
    );
    const url = new URL('https://none.example/');
    const results = await Promise.allSettled([request(url, head), request(url, head)]);
    expect(results).toMatchObject(Array(2).fill({ reason: { code: 'ENOTFOUND' } }));
  });
});

test('an aborted request leaves its session to the others', async () => {
  const { url, connections } = await listen(({ url }, response) => {
    if (url !== '/hang') response.end();
  });
  const { request, send } = client();
  const abort = new AbortController();
  const response = request(new URL('/hang', url), { ...head, signal: abort.signal });
  await send(url, 1);
  abort.abort(new Error('aborted'));
  await expect(response).rejects.toThrow('aborted');
  await send(url, 5);
  expect(connections).toMatchObject({ seen: 1, open: 1 });
});

test('closes an idle session after 4 s', { timeout: 60_000 }, async () => {
  const { url, connections } = await listen();
  await client().send(url, 2);
  const idleSince = performance.now();
  await expect.poll(() => connections.open, { timeout: 30_000 }).toBe(0);
  expect(performance.now() - idleSince).toBeGreaterThan(3_500);
});

test('keeps at most 256 idle sessions', { timeout: 60_000 }, async () => {
  const waiting: Http2ServerResponse[] = [];
  const { url, connections } = await listen((_, response) => {
    if (waiting.push(response) === 260) for (const each of waiting) each.end();
  });
  const { request } = client((_, options, callback) => systemLookup('localhost', options, callback));
  const origins = Array.from({ length: 260 }, (_, i) => new URL(`https://${i}.site.example:${url.port}/`));
  await Promise.all(origins.map((origin) => request(origin, head)));
  await expect.poll(() => connections.open).toBe(256);
});
