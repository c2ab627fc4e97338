import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { redirectHop } from '../../testing/response.ts';
import { answerTo, ask, serving, tracing } from '../../testing/serving.ts';
import type { CacheClient } from '../cache/redis.ts';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';

const end = endedExpansion('x', new ExpansionError('request_failed', 'It is down.'));

test('a slow client receives every line of its list', async () => {
  const lines = 4_000;
  let expanded = 0;
  const { url } = await tracing(async () => {
    expanded += 1;
    // The response is 32 MB long, far more than sockets and streams can buffer.
    return endedExpansion('x'.repeat(8_000), new ExpansionError('request_failed', 'It is down.'));
  });
  const response = await answerTo(
    ask(url, '/api/expand', Array.from({ length: lines }, (_, i) => `http://a.example/${i}`).join('\n')),
  );

  let before = -1;
  while (expanded > before) {
    before = expanded;
    await sleep(200);
  }
  expect(expanded).toBeLessThan(lines / 2);
  expect((await text(response)).trim().split('\n')).toHaveLength(lines);
  expect(expanded).toBe(lines);
});

test('a client with 16 hung lists cannot send another list or delay other clients', async () => {
  const released = Promise.withResolvers<void>();
  let hung = 0;
  const { url } = await tracing(async ({ hostname }) => {
    if (hostname === 'quick.example') return end;
    hung += 1;
    await released.promise;
    return end;
  });
  const post = async (client: string, list: string) => {
    const response = await answerTo(ask(url, '/api/expand', list, { 'X-Forwarded-For': client }));
    return { status: response.statusCode, lines: (await text(response)).trim().split('\n').length };
  };
  const links = Array.from({ length: 48 }, (_, i) => `http://hung.example/${i}`).join('\n');
  const results: unknown[] = [];
  const lists = Array.from({ length: 20 }, async () => results.push(await post('192.0.2.1', links)));
  await expect.poll(() => [hung, results.length]).toEqual([768, 4]);
  expect(await post('192.0.2.2', 'http://quick.example/')).toEqual({ status: 200, lines: 1 });
  released.resolve();
  await Promise.all(lists);
  expect(results.slice(0, 4)).toEqual(Array(4).fill({ status: 503, lines: 1 }));
  expect(results.slice(4)).toEqual(Array(16).fill({ status: 200, lines: 48 }));
});

test('clients receive a blank line after 10 s without a result', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const released = Promise.withResolvers<Expansion>();
  const { url } = await tracing(() => released.promise);
  const response = await answerTo(ask(url, '/api/expand', 'http://a.example/'));
  vi.advanceTimersByTime(9_999);
  expect(response.readableLength).toBe(0);
  vi.advanceTimersByTime(10_001);
  const [silence] = await once(response, 'data');
  expect(`${silence}`).toMatch(/^\n+$/);
  released.resolve(end);
  expect(JSON.parse(await text(response))).toMatchObject({ line: 1 });
  expect(vi.getTimerCount()).toBe(0);
});

describe('a client that disconnects', () => {
  test.each([
    ['/api/expand', 'http://a.example/\n'.repeat(200), 128],
    ['/api/chain?u=http://a.example/', undefined, 1],
    ['/?u=http://a.example/', undefined, 1],
    ['/api?u=http://a.example/', undefined, 1],
  ])('stops its expansions: %s', async (path, body, atATime) => {
    const signals: AbortSignal[] = [];
    const { url } = await tracing(async (_, { signal, onHop }) => {
      onHop?.(redirectHop);
      const stopped = signal as AbortSignal;
      signals.push(stopped);
      await new Promise((resolve) => stopped.addEventListener('abort', resolve));
      return end;
    });
    const asking = ask(url, path, body);
    await expect.poll(() => signals.length).toBe(atATime);
    asking.destroy();
    await expect.poll(() => signals.every(({ aborted }) => aborted)).toBe(true);
    // Only the new request starts another expansion.
    ask(url, '/api?u=http://b.example/');
    await expect.poll(() => signals.length).toBe(atATime + 1);
  });

  test.each([
    ['a Content-Length', 'Content-Length: 1000\r\n\r\nhttp://'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhttp:\r\n'],
  ])('is logged with status 499 while it sends a list with %s', async (_, sent) => {
    const { port, lines } = await tracing(async () => end);
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    // The response to GET shows that the server has also read the POST.
    socket.write(`GET /nope HTTP/1.1\r\nHost: a\r\n\r\nPOST /api/expand HTTP/1.1\r\nHost: a\r\n${sent}`);
    await once(socket, 'data');
    socket.destroy();
    await expect
      .poll(() => lines)
      .toMatchObject([{ status: 404 }, { path: '/api/expand', status: 499, level: 30, error: 'aborted' }]);
  });
});

test('an unexpected error is logged and affects only its own line', async () => {
  const { url, lines } = await tracing(async ({ host }) => {
    if (host === 'b') throw new TypeError('ours');
    return end;
  });
  const errors = (await text(await answerTo(ask(url, '/api/expand', 'a\nb\nc'))))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(errors.map(({ line, error }) => [line, error.code]).sort()).toEqual([
    [1, 'request_failed'],
    [2, 'fault'],
    [3, 'request_failed'],
  ]);
  await expect
    .poll(() => lines)
    .toMatchObject([
      { msg: 'fault', err: { type: 'TypeError', message: 'ours' } },
      { msg: 'request', status: 200 },
    ]);
});

const unavailable = 'Too many URL lists are in progress; try again soon.';

/** Uploads a list of almost 8 MB that never ends. */
function upload(port: number, client: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write('POST /api/expand HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n');
  socket.write(`X-Forwarded-For: ${client}\r\n\r\n`);
  socket.write(Buffer.alloc(7_999_999, 'x'));
  return socket;
}

test('slow uploads of a client fill only its own memory, those of four clients all memory', async () => {
  const { url, port, lines } = await tracing(async () => end);
  const list = 'x'.repeat(1_000);
  const post = (client: string) => answerTo(ask(url, '/api/expand', list, { 'X-Forwarded-For': client }));
  const slow = [upload(port, '192.0.2.1')];
  await expect.poll(async () => (await post('192.0.2.1')).statusCode).toBe(503);
  expect((await post('192.0.2.9')).statusCode).toBe(200);
  for (const client of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) slow.push(upload(port, client));
  await expect.poll(async () => (await post('192.0.2.9')).statusCode).toBe(503);
  const refused = await post('192.0.2.9');
  expect(refused.headers['retry-after']).toBe('1');
  expect(await text(refused)).toBe(unavailable);
  // Single requests are not affected.
  expect((await answerTo(ask(url, '/api?u=http://a.example/'))).statusCode).toBe(502);
  for (const socket of slow) socket.destroy();
  await expect.poll(async () => (await post('192.0.2.9')).statusCode).toBe(200);
  expect(lines.filter(({ msg }) => msg !== 'request')).toEqual([]);
});

test('three lists of 8 MB for a hung website affect no other client, and leave memory to their own', async () => {
  const { url } = await tracing(({ hostname }) =>
    hostname === 'hung.example' ? new Promise<never>(() => {}) : Promise.resolve(end),
  );
  const post = (client: string, list: string) =>
    answerTo(ask(url, '/api/expand', list, { 'X-Forwarded-For': client }));
  const hung = `http://hung.example/${'x'.repeat(779)}\n`.repeat(10_000);
  const large = await Promise.all(Array.from({ length: 3 }, () => post('192.0.2.1', hung)));
  expect(large.map(({ statusCode }) => statusCode).sort()).toEqual([200, 503, 503]);
  for (let i = 0; i < 20; i += 1) expect((await post('192.0.2.2', 'x')).statusCode).toBe(200);
  // 128 lines of 800 bytes have been started.
  expect((await post('192.0.2.1', 'x'.repeat(100_000))).statusCode).toBe(200);
});

test.each<[string, string, (response: IncomingMessage) => unknown]>([
  ['completed', 'x', text],
  ['refused', 'x\n'.repeat(10_001), text],
  ['aborted', 'x\nhang', async (response) => (await once(response, 'data')) && response.destroy()],
])('a list that was %s frees its memory', async (_, list, read) => {
  const { url, lines } = await tracing(async ({ host }) =>
    host === 'hang' ? new Promise<never>(() => {}) : end,
  );
  // The limits (16 lists, 8 MB) would reject some of these lists if earlier lists kept their memory.
  for (let i = 0; i < 17; i += 1) {
    await read(await answerTo(ask(url, '/api/expand', list.padEnd(i < 4 ? 7_999_999 : 0))));
    await expect.poll(() => lines.length).toBe(i + 1);
  }
  expect(lines.map(({ status }) => status)).not.toContain(503);
});

test('an overlong URL causes an error without a Redis lookup', async () => {
  const keys: string[] = [];
  const redis = {
    get: async (key: string) => {
      keys.push(key);
      return null;
    },
    set: async (key: string) => void keys.push(key),
  } as unknown as CacheClient;
  const { url } = await serving(testExpander({ redis }).app);
  const long = `http://a.example/${'<'.repeat(7_900_000)}`;
  const line = await text(await answerTo(ask(url, '/api/expand', `${long}\n`)));
  expect(JSON.parse(line)).toMatchObject({
    url: long.slice(0, 8_192),
    error: { code: 'invalid_url', message: 'The URL is longer than 8192 bytes.' },
  });
  expect(line.length).toBeLessThan(64 * 1024);
  expect(keys).toEqual([]);
});
