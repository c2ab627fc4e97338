import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { logged } from '../testing/logged.ts';
import { createMetrics, observed, remarked } from './observe.ts';
import { serve } from './serve.ts';

/** Serves `app` observed: where it answers, the lines of its log, and what is counted of its requests. */
async function serving(app: Hono) {
  const { lines, log } = logged();
  const metrics = createMetrics();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const options = { host: '127.0.0.1', port: 0, signal: stop.signal };
  const { port } = await serve(observed(app, log, metrics), options);
  const requests = () => lines.filter(({ msg }) => msg === 'request');
  const counted = async () =>
    (await metrics.metrics())
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count'));
  return { port, lines, requests, counted };
}

/** Sends raw bytes over a connection that stays open. */
function raw(port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  return socket;
}

describe('an answer in pieces', () => {
  /** Answers its first piece at once and the second when the test says so. */
  async function inPieces() {
    const second = Promise.withResolvers<void>();
    async function* body() {
      yield new TextEncoder().encode('one ');
      await second.promise;
      yield new TextEncoder().encode('two');
    }
    const app = new Hono().get('/', () =>
      remarked(new Response(ReadableStream.from(body())), { inPieces: true }),
    );
    const served = await serving(app);
    const request = http.get({ host: '127.0.0.1', port: served.port, agent: false }).on('error', () => {});
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return { ...served, request, answer, finish: () => second.resolve() };
  }

  test('is told of when its last piece is out', async () => {
    const { requests, counted, answer, finish } = await inPieces();
    expect([requests(), await counted()]).toEqual([[], []]);
    finish();
    expect(await text(answer)).toBe('one two');
    await expect.poll(requests).toMatchObject([{ path: '/', status: 200, brokenOff: false }]);
    expect(await counted()).toEqual([expect.stringMatching(/route="\/",status="200"\} 1$/)]);
  });

  test('is told of when it was broken off, and says so', async () => {
    const { requests, counted, request } = await inPieces();
    request.destroy();
    await expect.poll(requests).toMatchObject([{ path: '/', status: 200, brokenOff: true }]);
    expect(await counted()).toHaveLength(1);
  });
});

test('the line of an error has its code', async () => {
  const app = new Hono().get('/', () =>
    remarked(new Response('', { status: 502 }), { error: 'request_failed' }),
  );
  app.get('/fine', (c) => c.text('fine'));
  const { port, requests } = await serving(app);
  for (const path of ['', 'fine']) await fetch(`http://127.0.0.1:${port}/${path}`);
  expect(requests()).toMatchObject([{ level: 50, status: 502, error: 'request_failed' }, { status: 200 }]);
  expect(requests()[1]).not.toHaveProperty('error');
});

describe('what the server refuses itself', () => {
  test('has one line a second of each kind, with how many there were', async () => {
    const { port, lines, requests } = await serving(new Hono());
    const refused = () => lines.filter(({ msg }) => msg === 'refused');
    const ask = (bytes: string) => text(raw(port, bytes));
    const close = 'Connection: close\r\n\r\n';
    await Promise.all([
      ...Array.from({ length: 20 }, () => ask('nonsense\r\n\r\n')),
      ask(`GET / HTTP/1.1\r\nHost: a@b\r\n${close}`),
      ask(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n${close}`),
    ]);
    await expect.poll(() => refused().reduce((times, line) => times + Number(line.times), 0)).toBe(22);
    expect(refused()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 30, status: 400, reason: 'HPE_INVALID_METHOD' }),
        expect.objectContaining({ level: 30, status: 400, reason: 'Invalid host header', times: 1 }),
        expect.objectContaining({ level: 30, status: 431, reason: 'HPE_HEADER_OVERFLOW', times: 1 }),
      ]),
    );
    // Three kinds; a machine that is slow sees the first in two different seconds.
    expect(refused().length).toBeLessThan(10);
    expect(requests()).toEqual([]);
  });

  test('is a request of that status where it had begun, and not of a client that went away', async () => {
    let arrived = 0;
    const app = new Hono().post('/', async (c) => {
      arrived += 1;
      await c.req.text().catch(() => {});
      return new Response('', { status: 499 });
    });
    const { port, requests } = await serving(app);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await text(raw(port, `${head}no length\r\n`))).toContain('400 Bad Request');
    await expect.poll(requests).toMatchObject([{ path: '/', status: 400 }]);
    const leaving = raw(port, `${head}1\r\nx\r\n`);
    await expect.poll(() => arrived).toBe(2);
    leaving.resetAndDestroy();
    await expect.poll(requests).toMatchObject([{ status: 400 }, { status: 499 }]);
  });
});
