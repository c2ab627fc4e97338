import { serve } from '@longhand/shared/serve.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask as send } from '../../testing/serving.ts';

let shortener: Shortener;
let other: Shortener;
let origin: string;
const stop = new AbortController();

beforeAll(async () => {
  [shortener, other] = await Promise.all([startShortener(), startShortener()]);
  const { port } = await serve(testExpander().app, {
    host: '127.0.0.1',
    port: 0,
    signal: stop.signal,
  });
  origin = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  stop.abort();
  await Promise.all([shortener.close(), other.close()]);
});

const ask = (u: string, client = '192.0.2.1') =>
  send(origin, `/api?u=${encodeURIComponent(u)}`, undefined, { 'X-Forwarded-For': client });

const asked = (path: string) => shortener.requests.get(`HEAD ${path}`) ?? 0;

describe('a host that hangs', () => {
  let links = 0;
  const hanging = (length: number, clientOf: (i: number) => string) =>
    Array.from({ length }, (_, i) => ask(`${shortener.url}/hang?${links++}`, clientOf(i)));

  test('has 64 expansions waiting at the most: the next is 503 with Retry-After, and no other host is disturbed', async () => {
    const waiting = hanging(64, (i) => `192.0.2.${i % 2}`);
    await expect.poll(() => asked('/hang')).toBe(64);
    const refused = await answerTo(ask(`${shortener.url}/chain/0`));
    expect([refused.statusCode, refused.headers['retry-after'], refused.headers['cache-control']]).toEqual([
      503,
      '1',
      'no-store',
    ]);
    const undisturbed = Array.from({ length: 64 }, (_, i) => answerTo(ask(`${other.url}/chain/1?${i}`)));
    const statuses = (await Promise.all(undisturbed)).map((response) => response.statusCode);
    expect(statuses).toEqual(Array(64).fill(200));
    for (const request of waiting) request.destroy();
    await expect.poll(async () => (await answerTo(ask(`${shortener.url}/chain/0`))).statusCode).toBe(200);
  });

  test('has room for other clients, whatever one of them waits for', async () => {
    const before = asked('/hang');
    const waiting = hanging(64, () => '192.0.2.1');
    await expect.poll(() => asked('/hang') - before).toBe(56);
    const status = async (path: string, client: string) =>
      (await answerTo(ask(`${shortener.url}${path}`, client))).statusCode;
    expect(await status('/chain/0?alone', '192.0.2.1')).toBe(503);
    expect(await status('/chain/0?alone', '192.0.2.2')).toBe(200);
    // One that both wait for is for the other one, too.
    const shared = ['192.0.2.1', '192.0.2.2'].map((client) => status('/chain/1?delay=50', client));
    expect((await Promise.all(shared))[1]).toBe(200);
    for (const request of waiting) request.destroy();
  });
});

test('a client with 256 expansions waiting at many origins gets 503, and no other client does', async () => {
  const names: string[] = [];
  const { app } = testExpander({ lookup: (name) => void names.push(name) });
  const request = (u: string, client: string) =>
    app.request(`/api?u=${encodeURIComponent(u)}`, { headers: { 'X-Forwarded-For': client } });
  for (let i = 0; i < 256; i += 1) request(`http://${i}.example/`, '192.0.2.1');
  await expect.poll(() => names.length).toBe(256);
  const [refused, answered] = ['192.0.2.1', '192.0.2.2'].map((client) => request(other.url, client));
  const { status, headers } = (await refused) as Response;
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect((await answered)?.status).toBe(200);
});
