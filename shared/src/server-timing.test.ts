import { setTimeout as after } from 'node:timers/promises';
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import { createLog } from './log.ts';
import { createObserver } from './observe.ts';
import { createMetrics } from './operations.ts';
import { serve } from './serve.ts';
import { beginSpan } from './spans.ts';

let stop = new AbortController();
afterEach(() => stop.abort());

/** @returns a function that requests a path: its `Server-Timing`, as milliseconds by name. */
async function serving(app: Hono, serverTiming = true) {
  stop = new AbortController();
  const observer = createObserver('test', createLog('test', 'silent'), createMetrics('test', '0'));
  const { url } = await serve(app, {
    host: '127.0.0.1',
    port: 0,
    signal: stop.signal,
    observer,
    serverTiming,
  });
  return async (path: string) => {
    const header = (await fetch(url + path)).headers.get('server-timing');
    if (header === null) return null;
    return Object.fromEntries(
      header.split(', ').map((part) => [part.split(';')[0], Number(part.split('=')[1])]),
    );
  };
}

async function wait(name: string, milliseconds: number) {
  const end = beginSpan(name);
  await after(milliseconds);
  end();
}

const app = new Hono()
  .get('/plain', (c) => c.text('plain'))
  .get('/cached', () => new Response(null, { status: 204 }))
  .get('/reads', async (c) => {
    await wait('redis list', 30);
    await wait('redis show', 20);
    await wait('something else', 1);
    return c.text('read');
  })
  .get('/hops', async (c) => {
    await wait('hop', 20);
    return c.text('followed');
  })
  .get('/stream', (c) => c.body(ReadableStream.from([new TextEncoder().encode('one')])));

test('a response says how long the application took, and what it waited for', async () => {
  const request = await serving(app);
  const { app: whole = 0, redis = 0, ...others } = (await request('reads')) ?? {};
  expect(redis).toBeGreaterThanOrEqual(48);
  expect(whole).toBeGreaterThanOrEqual(redis);
  expect(others).toEqual({});
});

test('requests at the same time do not get each other’s times', async () => {
  const request = await serving(app);
  const [reads, plain, hops] = await Promise.all(['reads', 'plain', 'hops'].map(request));
  expect([reads, plain, hops].map((times) => Object.keys(times ?? {}))).toEqual([
    ['app', 'redis'],
    ['app'],
    ['app', 'hops'],
  ]);
});

test.each(['plain', 'cached', 'stream', 'nowhere'])('%s has one', async (path) => {
  const request = await serving(app);
  expect(await request(path)).toEqual({ app: expect.any(Number) });
});

test('there is none where it is off', async () => {
  const request = await serving(app, false);
  expect(await request('reads')).toBeNull();
});
