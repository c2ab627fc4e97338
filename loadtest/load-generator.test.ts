import http from 'node:http';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';
import { send, startLoad } from './load-generator.ts';

/** Starts a server and returns its URL. */
async function serving(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler);
  onTestFinished(() => cutOff(server));
  return `http://127.0.0.1:${await listening(server)}`;
}

test.each<[what: string, handler: http.RequestListener, seen: object]>([
  ['the expected status and body', (_, response) => response.end('right'), { status: 200, right: true }],
  ['another status', (_, response) => response.writeHead(503).end('right'), { status: 503, right: false }],
  ['another body', (_, response) => response.end('wrong'), { status: 200, right: false }],
  [
    'a cut response',
    (request, response) => {
      response.writeHead(200, { 'Content-Length': 9 }).write('right', () => request.socket.destroy());
    },
    { status: 0, right: false, error: 'cut after 200' },
  ],
  ['no response', ({ socket }) => socket.destroy(), { status: 0, right: false, error: 'socket hang up' }],
])('a request reports %s', async (_, handler, seen) => {
  expect(await send({ url: await serving(handler), expectedBody: 'right' })).toMatchObject(seen);
});

test('only a load with `connections` limits requests in flight', async () => {
  const waiting: http.ServerResponse[] = [];
  let responds = false;
  const url = await serving((_, response) => {
    if (responds) response.end();
    else waiting.push(response);
  });
  const at = (path: string) => waiting.filter(({ req }) => req.url === path);
  const closed = startLoad(() => ({ url: `${url}/closed` }), { connections: 2 });
  const open = startLoad(() => ({ url: `${url}/open` }), { rate: 100 });
  await expect.poll(() => at('/open').length).toBeGreaterThan(9);
  expect(at('/closed')).toHaveLength(2);
  responds = true;
  const completed = closed.completed(3);
  for (const response of waiting) response.end();
  await completed;
  const [few, many] = await Promise.all([closed.stop(), open.stop()]);
  expect(few.length).toBeGreaterThanOrEqual(3);
  expect(many.length).toBeGreaterThan(9);
  expect([...few, ...many].filter(({ right }) => !right)).toEqual([]);
});
