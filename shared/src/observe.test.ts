import http from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { logged } from '../testing/logged.ts';
import { open, send, sendRaw } from '../testing/send.ts';
import { annotate, createObserver } from './observe.ts';
import { createMetrics, operations } from './operations.ts';
import { createRoutes, type LazyResponse } from './routes.ts';
import { type Application, serve } from './serve.ts';
import { noTurns } from './turns.ts';

/** Serves `app` with an observer until the test ends. */
async function serveObserved(app: Application) {
  const { lines, log } = logged();
  const metrics = createMetrics('test', '0.0.0');
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const observer = createObserver(log, metrics);
  const { port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal, observer });
  const requests = () => lines.filter(({ msg }) => msg === 'request');
  const counted = async () =>
    (await metrics.metrics())
      .split('\n')
      .filter((line) => line.startsWith('http_server_request_duration_seconds_count'));
  return { port, lines, metrics, requests, counted };
}

const empty: LazyResponse = { headers: {}, body: null };

describe('a streamed response', () => {
  /** Sends the first chunk immediately, and the second after `finish`. */
  async function streamed() {
    const second = Promise.withResolvers<void>();
    async function* body() {
      yield new TextEncoder().encode('one ');
      await second.promise;
      yield new TextEncoder().encode('two');
    }
    const app = new Hono().get('/', () => new Response(ReadableStream.from(body())));
    const served = await serveObserved(app);
    return { ...served, response: await open(served.port, '/'), finish: () => second.resolve() };
  }

  test('is observed after its last chunk', async () => {
    const { requests, counted, response, finish } = await streamed();
    expect([requests(), await counted()]).toEqual([[], []]);
    finish();
    expect(await text(response)).toBe('one two');
    await expect.poll(requests).toMatchObject([{ path: '/', status: 200 }]);
    expect(requests()[0]).not.toHaveProperty('cut');
    expect(await counted()).toHaveLength(1);
  });

  test('is observed if the client disconnects', async () => {
    const { requests, counted, response } = await streamed();
    response.destroy();
    await expect.poll(requests).toMatchObject([{ path: '/', status: 200, cut: true }]);
    expect(await counted()).toHaveLength(1);
  });
});

test('each request is logged in one line without the query', async () => {
  const app = new Hono().get('/fine', (c) => c.text('fine'));
  app.get('/', (c) => {
    annotate(c, { error: 'request_failed' });
    return new Response('', { status: 502 });
  });
  const { port, requests } = await serveObserved(app);
  const headers = { 'x-request-id': 'r1', 'x-forwarded-for': '192.0.2.1' };
  for (const path of ['', 'fine?secret=1']) await fetch(`http://127.0.0.1:${port}/${path}`, { headers });
  const shared = { msg: 'request', method: 'GET', seconds: expect.any(Number) };
  const client = { requestId: 'r1', client: '192.0.2.1' };
  await expect.poll(requests).toMatchObject([
    { ...shared, ...client, level: 50, path: '/', status: 502, error: 'request_failed' },
    { ...shared, ...client, level: 30, path: '/fine', status: 200 },
  ]);
  expect(requests()[1]).not.toHaveProperty('error');
});

test('/metrics includes request counts by route, the version and process metrics', async () => {
  const { app, get, notFound } = createRoutes(noTurns);
  get('/tasks/export', () => empty);
  get('/tasks/:id', () => empty);
  notFound(() => ({ ...empty, status: 404 }));
  const { port, requests, metrics } = await serveObserved(app);
  for (const path of ['/tasks/export', '/tasks/7', '/tasks/8', '/nothing']) await send(port, path);
  await expect.poll(() => requests().length).toBe(4);
  const text = await (await operations(async () => {}, metrics).request('/metrics')).text();
  const name = 'http_server_request_duration_seconds';
  const status = (code: number) =>
    `http_request_method="GET",http_response_status_code="${code}",url_scheme="http"`;
  expect(text).toContain(`${name}_count{${status(200)},http_route="/tasks/export"} 1`);
  expect(text).toContain(`${name}_count{${status(200)},http_route="/tasks/:id"} 2`);
  expect(text).toContain(`${name}_sum{${status(200)},http_route="/tasks/:id"} 0.`);
  // Requests for an unknown path have no route label.
  expect(text).toContain(`${name}_count{${status(404)}} 1`);
  for (const bound of ['0.035', '0.05', '10', '+Inf'])
    expect(text).toContain(`${name}_bucket{le="${bound}",${status(200)},http_route="/tasks/:id"} `);
  expect(text).toContain('longhand_build_info{service="test",version="0.0.0"} 1');
  expect(text).toContain('process_resident_memory_bytes');
});

describe('a refused request', () => {
  test('is logged with the reason', async () => {
    const { port, lines, requests } = await serveObserved(new Hono());
    await sendRaw(port, 'nonsense\r\n\r\n');
    for (const header of ['[', 'evil.example', `a\r\nX: ${'x'.repeat(70_000)}`])
      await sendRaw(port, `GET / HTTP/1.1\r\nHost: ${header}\r\nConnection: close\r\n\r\n`);
    expect(lines.filter(({ msg }) => msg === 'refused')).toMatchObject([
      { level: 30, status: 400, reason: 'HPE_INVALID_METHOD' },
      { level: 30, status: 400, reason: 'Invalid URL' },
      { level: 30, status: 431, reason: 'HPE_HEADER_OVERFLOW' },
    ]);
    const refused = { path: '/', status: 421, error: 'unknown_host' };
    await expect.poll(requests).toMatchObject([{ path: '/', status: 400 }, refused]);
  });

  test('is logged with 499 if the client disconnects, and 400 if its body is invalid', async () => {
    let arrived = 0;
    const app = new Hono().post('/', async (c) => {
      arrived += 1;
      await c.req.text().catch(() => {});
      return new Response('');
    });
    const { port, requests } = await serveObserved(app);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await sendRaw(port, `${head}no length\r\n`)).toContain('400 Bad Request');
    await expect.poll(requests).toMatchObject([{ path: '/', status: 400 }]);
    const leaving = connect(port, '127.0.0.1').on('error', () => {});
    leaving.write(`${head}1\r\nx\r\n`);
    await expect.poll(() => arrived).toBe(2);
    leaving.resetAndDestroy();
    await expect.poll(requests).toMatchObject([{ status: 400 }, { status: 499 }]);
  });
});

test('clients cannot add labels to the metrics', async () => {
  const { app, get, notFound } = createRoutes(noTurns);
  get('/notes/:id', () => empty);
  notFound(() => ({ ...empty, status: 404 }));
  const { port, counted, requests } = await serveObserved(app);
  const methods = http.METHODS.filter((method) => method !== 'CONNECT');
  const sent = methods.flatMap((method, i) => {
    const headers = { Host: `${i}.localhost`, 'X-Forwarded-Proto': `proto${i}` };
    return [`/notes/${i}?${i}`, `/${i}`].map((path) => send(port, path, { method, headers }));
  });
  await Promise.all(sent);
  await expect.poll(() => requests().length).toBe(sent.length);
  // The eight method labels occur with and without a route.
  expect((await counted()).length).toBeLessThanOrEqual(16);
});

test.each([
  ['/livez', 200, 'live\n', () => Promise.reject(new Error('no store'))],
  ['/readyz', 200, 'ready\n', async () => {}],
  ['/readyz', 503, 'not ready: no store\n', () => Promise.reject(new Error('no store'))],
])('%s responds with %i, %j', async (path, status, body, ready) => {
  const response = await operations(ready, createMetrics('test', '0.0.0')).request(path);
  expect([response.status, await response.text()]).toEqual([status, body]);
});
