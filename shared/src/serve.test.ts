import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { testFolder } from '../testing/text-file.ts';
import { isLocalHost, type ServeOptions, type Serving, serve } from './serve.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const here = () => new Hono().get('/', (c) => c.text('here'));

/** Serves `app`, by default on a free port. */
async function serving(app = here(), options: object = {}) {
  const stop = new AbortController();
  const where = 'path' in options ? options : { host: '127.0.0.1', port: 0, ...options };
  const served = await serve(app, { ...where, signal: stop.signal } as ServeOptions);
  stops.push(() => {
    stop.abort();
    return served.closed;
  });
  return { ...served, stop: () => stop.abort() };
}

/** Sends GET, by default on a new connection. */
async function get(where: { port: number } | { socketPath: string }, options: http.RequestOptions = {}) {
  const request = http.get({ ...where, host: '127.0.0.1', agent: false, ...options });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return response.resume();
}

/** Sends raw bytes and resolves with the response. */
async function raw({ port }: Serving, bytes: string): Promise<string> {
  const socket = connect(port, 'localhost');
  socket.end(bytes);
  return text(socket);
}

describe('A server', () => {
  test('accepts a request line of 32 KiB', async () => {
    expect((await get(await serving(), { path: `/?u=${'x'.repeat(32 * 1024)}` })).statusCode).toBe(200);
  });

  test('allows 30 s for a request and 15 s for its headers', async () => {
    const served = await serving();
    const servers: http.Server[] = [];
    const look = (message: unknown) => servers.push((message as { server: http.Server }).server);
    subscribe('http.server.request.start', look);
    await get(served);
    unsubscribe('http.server.request.start', look);
    expect(servers).toMatchObject([
      { requestTimeout: 30_000, headersTimeout: 15_000, connectionsCheckingInterval: 1_000 },
    ]);
  });

  const close = 'Connection: close\r\n\r\n';
  const long = `X: ${'x'.repeat(70_000)}`;
  test.each([
    ['an invalid Host', 'GET / HTTP/1.1\r\nHost: a@b', '400 Bad Request'],
    // @hono/node-server only compares the length of this Host with that of the URL's host.
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: ä\\login?', '400 Bad Request'],
    ['a Host beyond ASCII', 'GET / HTTP/1.1\r\nHost: ä', '400 Bad Request'],
    ['an invalid target', 'GET \\ HTTP/1.1\r\nHost: a', '400 Bad Request'],
    ['bytes that are not HTTP', 'nonsense', '400 Bad Request'],
    ['long headers', `GET / HTTP/1.1\r\nHost: x\r\n${long}`, '431 Request Header Fields Too Large'],
  ])('refuses %s with an explanation', async (_, start, status) => {
    const served = await serving(here(), { clientErrorHeaders: { 'X-Power-By': 'Longhand' } });
    const [head, body] = (await raw(served, `${start}\r\n${close}`)).split('\r\n\r\n');
    expect(head?.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
    expect(head).toMatch(/^x-power-by: Longhand$/im);
    expect(body?.slice(0, status.length)).toBe(status);
  });

  test.each([
    [421, 'unknown_host', 'application/json', 'Host: evil.example'],
    [431, 'headers_too_large', 'application/json', `Host: localhost\r\n${long}`],
    [421, undefined, 'text/html, application/json', 'Host: evil.example'],
    [421, undefined, '*/*', 'Host: evil.example'],
  ])('refuses with %i and the problem %s for Accept: %s', async (status, code, accept, more) => {
    const served = await serving(here(), { problems: true });
    const response = await raw(served, `GET / HTTP/1.1\r\nAccept: ${accept}\r\n${more}\r\n${close}`);
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head.includes('application/problem+json')).toBe(code !== undefined);
    if (code === undefined) return expect(body).toMatch(/^\d+ [\w ]+: [A-Z][\w ]+\.$/);
    expect(JSON.parse(body)).toMatchObject({ type: 'about:blank', status, code, detail: expect.any(String) });
  });
});

describe('A server on a Unix socket', () => {
  let path: string;
  beforeEach(() => {
    path = join(testFolder(), 'socket');
  });

  const statusAt = async (socketPath: string, Host = 'localhost') =>
    (await get({ socketPath }, { headers: { Host } })).statusCode;

  test('accepts any host name and removes the socket when it stops', async () => {
    const served = await serving(here(), { path });
    expect(served.url).toBe(`unix:${path}`);
    expect(await statusAt(path, 'tasks.example.org')).toBe(200);
    served.stop();
    await served.closed;
    expect(existsSync(path)).toBe(false);
  });

  test('queues 1,000 connections', async () => {
    await serving(here(), { path });
    const sockets = Array.from({ length: 1_000 }, () => connect({ path }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.destroy();
  });

  test('replaces a socket only if its process is no longer running', async () => {
    const source = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
    await once(spawn(process.execPath, ['-e', source]), 'exit');
    expect(existsSync(path)).toBe(true);
    await serving(here(), { path });
    expect(await statusAt(path)).toBe(200);
    await expect(serving(here(), { path })).rejects.toThrow(`${path} is in use.`);
    expect(await statusAt(path)).toBe(200);
  });
});

describe('The host name of a request', () => {
  const statusFor = async (served: Serving, host: string) =>
    (await raw(served, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(0, 12);

  test.each(['127.0.0.1', 'localhost'])('must be local if the server listens on %s', async (host) => {
    const served = await serving(here(), { host, clientErrorHeaders: { 'X-Power-By': 'Longhand' } });
    expect(await statusFor(served, `localhost:${served.port}`)).toBe('HTTP/1.1 200');
    const refused = await raw(served, 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n');
    expect(refused).toMatch(/^HTTP\/1\.1 421 .*X-Power-By: Longhand/s);
    expect(await raw(served, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
    const reachable = await serving(here(), { host: '0.0.0.0' });
    expect(await statusFor(reachable, 'tasks.example.org')).toBe('HTTP/1.1 200');
  });

  const local =
    '127.0.0.1 127.0.0.1:3000 192.168.1.5:8082 [::1] [::1]:3000 localhost localhost. LOCALHOST:3000 ' +
    'tasks.localhost:8080 tasks tasks:3000 desk.local tasks.home.arpa metadata.google.internal';
  test.each(local.split(' '))('may be %s', (name) => expect(isLocalHost(name)).toBe(true));

  const foreign =
    'evil.example evil.example:3000 evil.example. localhost.evil.example 127.0.0.1.nip.io 127.0.0.1.example:80 ' +
    'notlocalhost.com evil.arpa xlocal.net [::1].evil.example 1.2.3.4.5';
  test.each(foreign.split(' '))('may not be %s', (name) => expect(isLocalHost(name)).toBe(false));
});

describe('A malformed request', () => {
  test('aborts a response in progress instead of adding a 400', async () => {
    const body = async function* () {
      yield new TextEncoder().encode('piece');
      await new Promise(() => {});
    };
    const app = new Hono().get('/', () => new Response(ReadableStream.from(body())));
    const { port } = await serving(app);
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    let response = '';
    socket.setEncoding('utf8').on('data', (text) => {
      response += text;
    });
    await expect.poll(() => response).toContain('piece');
    socket.write('nonsense\r\n\r\n');
    await once(socket, 'close');
    expect(response.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test('does not delay the drain if its client keeps the connection open', async () => {
    // Fake timers prevent the server from cutting the connection after 10 s.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    stops.push(() => vi.useRealTimers());
    const served = await serving(new Hono());
    const where = { port: served.port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = connect(where).on('error', () => {});
    stops.push(() => socket.destroy());
    socket.write('nonsense\r\n\r\n');
    await once(socket, 'data');
    served.stop();
    await served.closed;
    expect(socket.writable).toBe(true);
  });
});

describe('A body that no handler reads', () => {
  const size = 8_000_000;
  test.each([
    ['Content-Length', `Content-Length: ${size}\r\n\r\n`],
    ['chunks', `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`],
  ])('stays unread, and the client receives the response: %s', async (_, fields) => {
    const sockets: Socket[] = [];
    const app = here().post('/', async (c) => {
      sockets.push((c.env as HttpBindings).incoming.socket);
      return c.text('refused', 403);
    });
    const { port } = await serving(app);
    const client = connect(port, '127.0.0.1').on('error', () => {});
    client.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${fields}`);
    client.write('a'.repeat(size));
    const response = await text(client);
    expect(response).toMatch(/^HTTP\/1.1 403 Forbidden\r\n.*\r\nConnection: close\r\n.*\r\n\r\nrefused$/s);
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
    expect(sockets[0]?.bytesRead).toBeLessThan(size / 10);
  });

  test('leaves the connection open if it has arrived whole', async () => {
    const { port } = await serving(here().post('/', async (c) => c.text('refused', 403)));
    const request = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\na';
    const client = connect(port, '127.0.0.1');
    for (let i = 0; i < 2; i += 1) {
      client.write(request);
      expect(`${await once(client, 'data')}`).toMatch(/^HTTP\/1.1 403 .*\r\nConnection: keep-alive\r\n/s);
    }
    client.destroy();
  });
});

describe('A server that drains', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });
  afterEach(() => void vi.useRealTimers());

  test('responds on connections that it has not accepted yet', async () => {
    const served = await serving();
    const sent = join(testFolder(), 'sent');
    const request = 'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n';
    const script = `exec 3<>/dev/tcp/127.0.0.1/${served.port}; printf '${request}' >&3; : >${sent}; cat <&3`;
    const client = spawn('bash', ['-c', script]);
    // Block the event loop, so that only the kernel knows the connection.
    while (!existsSync(sent));
    served.stop();
    expect(await text(client.stdout)).toContain('200 OK');
  });

  test('refuses new connections, and finishes a request in flight', async () => {
    const arrived = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    const app = new Hono().get('/', async (c) => {
      arrived.resolve();
      await finished.promise;
      return c.text('done');
    });
    const served = await serving(app);
    const response = get(served, { agent: new http.Agent({ keepAlive: true }) });
    await arrived.promise;
    served.stop();
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
    await expect(get(served)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    finished.resolve();
    expect((await response).statusCode).toBe(200);
    await vi.advanceTimersByTimeAsync(2_000);
    await served.closed;
  });

  test('responds on open connections with Connection: close', async () => {
    const served = await serving();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    expect((await get(served, { agent })).headers.connection).toBe('keep-alive');
    await new Promise(setImmediate);
    served.stop();
    const last = await get(served, { agent });
    expect(last.statusCode).toBe(200);
    expect(last.headers.connection).toBe('close');
    await served.closed;
  });

  /** The value of `promise`, or `pending` if it is not settled. */
  const stateOf = (promise: Promise<unknown>) =>
    Promise.race([promise, new Promise((resolve) => setImmediate(resolve, 'pending'))]);

  test('closes idle connections after 2 s', async () => {
    const served = await serving();
    const agent = new http.Agent({ keepAlive: true });
    await get(served, { agent });
    served.stop();
    await vi.advanceTimersByTimeAsync(1_900);
    expect(await stateOf(served.closed)).toBe('pending');
    await vi.advanceTimersByTimeAsync(100);
    await served.closed;
    agent.destroy();
  });

  test('cuts all connections after 10 s', async () => {
    const arrived = Promise.withResolvers<void>();
    const hang = () => {
      arrived.resolve();
      return new Promise<Response>(() => {});
    };
    const served = await serving(new Hono().get('/', hang));
    const cut = get(served);
    await arrived.promise;
    served.stop();
    await vi.advanceTimersByTimeAsync(9_900);
    expect(await stateOf(cut)).toBe('pending');
    await vi.advanceTimersByTimeAsync(100);
    await expect(cut).rejects.toMatchObject({ code: 'ECONNRESET' });
    await served.closed;
  });
});
