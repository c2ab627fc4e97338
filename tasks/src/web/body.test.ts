import { request } from 'node:http';
import { serve } from '@longhand/shared/serve.ts';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBody } from './body.ts';
import type { TasksEnv } from './context.ts';

const stop = new AbortController();
let port: number;
let closed: Promise<void>;

beforeAll(async () => {
  const app = new Hono<TasksEnv>();
  app.post('/', async (c) => c.text(`${await readBody(c)}`));
  app.onError((error, c) => c.json(error, 413));
  ({ port, closed } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal }));
});
afterAll(async () => {
  stop.abort();
  await closed;
});

/** Sends `pieces`, each in a chunk of its own unless their length is announced. */
function post(pieces: string[], headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request({ port, method: 'POST', headers }, async (answer) => {
      const text = (await Array.fromAsync(answer)).join('');
      resolve({ status: answer.statusCode, text });
    });
    sent.on('error', reject);
    for (const piece of pieces) sent.write(piece);
    sent.end();
  });
}

const limit = 64 * 1024;
const half = 'ö'.repeat(limit / 4);

test.each([
  ['announced', { 'Content-Length': `${limit}` }],
  ['in chunks', {}],
])('a body of 64 KiB is read whole, its length %s', async (_case, headers) => {
  expect(await post([half, half], headers as never)).toEqual({ status: 200, text: half + half });
});

test('one byte more is refused in chunks', async () => {
  expect((await post([half, half, '!'])).status).toBe(413);
});

test('a length of one byte more is refused before anything is sent', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { 'Content-Length': `${limit + 1}` };
    const sent = request({ port, method: 'POST', headers }, (answer) => {
      resolve(answer.statusCode);
      sent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });
  expect(status).toBe(413);
});

test.each([
  ['announced', { 'Content-Length': '0' }],
  ['in chunks', {}],
])('an empty body is empty, its length %s', async (_case, headers) => {
  expect(await post([], headers as never)).toEqual({ status: 200, text: '' });
});
