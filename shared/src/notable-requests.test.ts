import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { serveObserved } from '../testing/serve-observed.ts';
import { annotate, notableRequests } from './observe.ts';
import { operations } from './operations.ts';
import { operationDurations, redisState } from './redis.ts';
import { beginSpan, type ObservedRequest, sharing, timedOperations } from './spans.ts';

const id = 'a'.repeat(32);
const request = (change: Partial<ObservedRequest>): ObservedRequest => ({
  requestId: id,
  service: 'test',
  method: 'GET',
  status: 200,
  start: 0,
  seconds: 0.001,
  spans: [],
  ...change,
});

describe('Notable requests', () => {
  test('are those that were slow or failed, and no others', () => {
    const { add, all } = notableRequests();
    for (const change of [{}, { status: 404 }, { seconds: 0.5 }, { status: 499 }, { status: 503 }]) {
      add(request(change));
    }
    expect(all().map(({ status, seconds }) => [status, seconds])).toEqual([
      [503, 0.001],
      [499, 0.001],
      [200, 0.5],
    ]);
  });

  test('are the last thousand, the latest first', () => {
    const { add, all, find } = notableRequests();
    for (let i = 0; i < 1_500; i += 1) add(request({ requestId: `${i}`, status: 500 }));
    expect(all()).toHaveLength(1_000);
    expect(all()[0]?.requestId).toBe('1499');
    expect(all().at(-1)?.requestId).toBe('500');
    expect([find('499').length, find('500').length]).toEqual([0, 1]);
  });

  test('tell what they waited for, each its own, on the operations port', async () => {
    const registry = new Registry();
    const timed = timedOperations(operationDurations(registry));
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const app = new Hono().get('/:name', async (c) => {
      if (++begun === 2) both.resolve();
      const reply = timed(
        'GET',
        () => both.promise.then(() => 'x'),
        () => ({ batch: 2 }),
      );
      await sharing('a read that others share', reply);
      const failed = timed(c.req.param('name'), () => Promise.reject(new Error('https://secret.example/')));
      await failed.catch(() => {});
      beginSpan('never ends');
      return c.text('', 503);
    });
    const { port, notable, requests } = await serveObserved(app);
    for (const [name, digit] of Object.entries({ one: '1', two: '2' })) {
      const headers = { 'X-Request-Id': digit.repeat(32) };
      http.get({ port, path: `/${name}?u=https://secret.example/`, headers, agent: false }, (response) =>
        response.resume(),
      );
    }
    await expect.poll(requests).toHaveLength(2);
    const answer = await operations(async () => {}, registry, notable).request(
      `/requests?id=${'1'.repeat(32)}`,
    );
    const found = (await answer.json()) as ObservedRequest[];
    expect(found).toMatchObject([
      {
        requestId: '1'.repeat(32),
        service: 'test',
        method: 'GET',
        route: '/:name',
        status: 503,
        spans: [
          { name: 'redis GET', facts: { batch: 2 } },
          { name: 'a read that others share' },
          { name: 'redis one', error: 'Error' },
          { name: 'never ends' },
        ],
      },
    ]);
    expect(found[0]?.spans[3]).not.toHaveProperty('seconds');
    expect(JSON.stringify(notable.all())).not.toContain('secret');
    const metrics = await registry.metrics();
    const name = 'db_client_operation_duration_seconds_count{db_system_name="redis",db_operation_name=';
    expect(metrics).toContain(`${name}"GET"} 2`);
    expect(metrics).toContain(`${name}"one",error_type="Error"} 1`);
  });

  test('do not include streams, which last for as long as somebody reads them', async () => {
    const app = new Hono().get('/', (c) => {
      annotate(c, { endless: true });
      return new Response(new ReadableStream({ start: (out) => out.enqueue(new Uint8Array(1)) }), {
        status: 500,
      });
    });
    const { port, notable, requests } = await serveObserved(app);
    const asked = http.get({ port, headers: { 'X-Request-Id': id }, agent: false }).on('error', () => {});
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    asked.destroy();
    await expect.poll(requests).toHaveLength(1);
    expect(notable.all()).toEqual([]);
  });
});

test('whatever is asked for, the number of series stays the same', async () => {
  const app = new Hono().get('/notes/:id', (c) => c.text('')).all('*', (c) => c.text('', 404));
  const { port, metrics, requests } = await serveObserved(app);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const fuzz = async (from: number) => {
    for (let i = from; i < from + 150; i += 1) {
      const method = http.METHODS[i % http.METHODS.length] as string;
      if (method === 'CONNECT') continue;
      const headers = { Host: `${i}.localhost`, 'X-Forwarded-Proto': `proto${i}` };
      const asked = http
        .request({ port, agent, method, path: `/${i % 2 ? 'notes/' : ''}${i}?${i}`, headers })
        .end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
    }
    await expect.poll(async () => requests().length).toBeGreaterThan(from + 100);
  };
  const series = async () =>
    (await metrics.metrics()).split('\n').filter((line) => /^http_server.*_count/.test(line)).length;
  await fuzz(0);
  const after = await series();
  await fuzz(150);
  expect(await series()).toBe(after);
  // Seven methods and _OTHER, with the route and without.
  expect(after).toBeLessThan(20);
  agent.destroy();
});

test('a gauge says whether Redis answers', async () => {
  const registry = new Registry();
  let away = false;
  redisState(registry, () => (away ? Promise.reject(new Error('away')) : Promise.resolve('PONG')));
  expect(await registry.metrics()).toContain('longhand_redis_answers 1');
  away = true;
  expect(await registry.metrics()).toContain('longhand_redis_answers 0');
});
