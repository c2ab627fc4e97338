import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProxied } from './testing/proxied.ts';
import { send, sendRaw, type TestResponse } from './testing/send.ts';

/** A configuration in which an application may be silent for 1 s instead of 9, unless a location says otherwise. */
const impatient = (text: string) => text.replace('read_timeout 9s', 'read_timeout 1s');

/** nginx in front of a stand-in for both applications, which records what reaches it. */
describe('The proxy alone', () => {
  const received: { url: string; headers: http.IncomingHttpHeaders; socket: Socket }[] = [];
  const handlers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    '/silent': (_request, response) => void setTimeout(() => response.end('late'), 1_500),
    '/api/expand?break': (request) => request.socket.destroy(),
    '/tasks/import?break': (request) => request.socket.destroy(),
    '/api/expand': (_request, response) => void setTimeout(() => response.end('late'), 1_500),
    '/large': (_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('a word and a word '.repeat(1_000));
    },
  };
  const application = http.createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    const url = request.url ?? '';
    received.push({ url, headers: request.headers, socket: request.socket });
    response.setHeader('X-Request-Id', 'set by the application');
    (handlers[url] ?? (() => response.end('echo')))(request, response);
  });

  let proxy: TemporaryProxy;
  let ports: TemporaryProxy['ports'];
  beforeAll(async () => {
    proxy = await startProxied(application, { LONGHAND_API_RATE: '5r/s' }, impatient);
    ports = proxy.ports;
  });
  afterAll(() => proxy?.stop());

  /** Sends a request and returns what reached the application. */
  const forwarded = async (path: string, options = {}) => {
    await send(ports.tasks, path, options);
    const last = received.at(-1);
    if (!last) throw new Error('nothing reached the application');
    return last;
  };

  test.each([
    '/a//b',
    '/a/./b/../c',
    '/%61%2F%2f',
    '/?u=http://a.b/c%20d+e&&',
    '/a;b=c?',
    '/%E2%80%A8',
    '/"<>',
  ])('a request target reaches the application byte for byte: %s', async (path) => {
    expect((await forwarded(path)).url).toBe(path);
  });

  test('a request target of 24 KiB reaches the application byte for byte', async () => {
    const long = `/api?u=${'%61'.repeat(8 * 1024)}`;
    expect((await forwarded(long)).url).toBe(long);
  });

  test('the application learns the client address from the proxy, not from the headers of the client', async () => {
    const { headers } = await forwarded('/', {
      host: `localhost:${ports.tasks}`,
      headers: { 'X-Forwarded-For': '8.8.8.8', 'X-Forwarded-Proto': 'https', 'X-Request-Id': 'mine' },
    });
    expect(headers.host).toBe(`localhost:${ports.tasks}`);
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('http');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    // W3C Trace Context: the request id is the trace id, its first half the id of the proxy's span.
    const id = `${headers['x-request-id']}`;
    expect(headers.traceparent).toBe(`00-${id}-${id.slice(0, 16)}-01`);
  });

  test('an HTTP/1.0 client needs no Host', async () => {
    expect(await sendRaw(ports.tasks, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.at(-1)?.headers.host).toBe('tasks.localhost');
  });

  test('connections to the application are kept open and reused', async () => {
    const first = await forwarded('/');
    const sockets = new Set<Socket>();
    for (let i = 0; i < 20; i += 1) sockets.add((await forwarded('/')).socket);
    expect(first.headers.connection ?? 'keep-alive').toBe('keep-alive');
    // Each worker process of nginx keeps connections of its own.
    expect(sockets.size).toBeLessThan(20);
  });

  test('a list of URLs may be silent for longer than other requests', async () => {
    const { status, body } = await send(ports.expander, '/api/expand', { method: 'POST', body: 'sho.rt/x' });
    expect([status, body]).toEqual([200, 'late']);
    expect((await send(ports.expander, '/silent')).status).toBe(504);
  });

  test('a large page is compressed for clients that accept gzip', async () => {
    const gzip = await send(ports.expander, '/large', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gzip.headers.vary).toBe('Accept-Encoding');
    expect((await send(ports.expander, '/large')).headers['content-encoding']).toBeUndefined();
  });

  test.each([
    ['expander', '/api/expand?break'],
    ['tasks', '/tasks/import?break'],
  ] as const)(
    'an application that resets the connection is 502, after a body larger than others may have: %s%s',
    async (name, path) => {
      const { status, body } = await send(ports[name], path, { method: 'POST', body: 'x'.repeat(100_000) });
      expect(status).toBe(502);
      expect(body).toContain('The application is not answering.');
    },
  );

  test.each([
    ['tasks', '/task', 64 * 1024],
    ['tasks', '/tasks/import?x', 64 * 1024 ** 2],
    ['expander', '/api/expand', 8 * 1024 ** 2],
  ] as const)('a request to %s%s over %i bytes is 413', async (name, path, limit) => {
    const headers = { 'Content-Length': limit + 1 };
    const request = http.request({ host: '127.0.0.1', port: ports[name], path, method: 'POST', headers });
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const refused = await text(response);
    // The body is never sent.
    request.destroy();
    expect(response.statusCode).toBe(413);
    expect(refused).toContain('The request is too large.');
  });

  test('above LONGHAND_API_RATE and a burst of the same size, /api and the page are 429 with Retry-After', async () => {
    // A client of its own: the other tests ask for links too.
    const ask = (path: string) => send(ports.expander, path, { localAddress: '127.0.0.2' });
    const responses: TestResponse[] = [];
    for (let i = 0; i < 12; i += 1) responses.push(await ask('/api?u=x'));
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.slice(0, 6).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, body } of refused) {
      expect(headers).toMatchObject({
        'retry-after': '1',
        'x-power-by': 'Longhand',
        'content-type': 'text/html',
        'access-control-allow-origin': '*',
      });
      expect(body).toContain('Too many requests from your address.');
      expect(body).toContain('Wait a second, then try again.');
    }
    // On a slow machine the rate may allow another one meanwhile.
    await expect.poll(async () => (await ask('/?u=x')).status, { interval: 1 }).toBe(429);
    expect((await ask('/nowhere')).status).toBe(200);
  });
});
