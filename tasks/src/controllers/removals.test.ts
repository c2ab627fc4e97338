import { connected, storeClient } from '@longhand/shared/redis.ts';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { submit, testApp, visit } from '../../testing/app.ts';
import { configuration, silent } from '../../testing/store.ts';
import { redisStore } from '../redis/store.ts';
import { TaskError } from '../task/errors.ts';
import type { TaskStore } from '../task/task.ts';

let server: TestRedis;
let redis: ReturnType<typeof storeClient>;
let store: TaskStore;
beforeAll(async () => {
  server = await startRedisProcess(configuration);
  redis = storeClient({ REDIS_URL: server.url }, silent);
  store = redisStore(redis);
  await connected(redis, 10_000);
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const now = new Date('2026-01-02T03:04:05.678Z');
const insertFinished = async (count: number) => {
  const finished = { title: 'done', finished: 1, created_at: now.toISOString() } as const;
  for (let i = 0; i < count; i += 1_000) await store.insert(Array(1_000).fill(finished));
};
const counts = async () => {
  const { open, finished } = await store.list({ filter: 'all' });
  return { open, finished };
};

test('Clearing that a crash of Redis ends on the way says with what to bring back what it cleared', async () => {
  await insertFinished(24_000);
  const app = testApp(store);
  const send = (method: string, path: string, body: object = {}) =>
    app.request(path, {
      method,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const clearing = send('DELETE', '/tasks/finished');
  await expect.poll(counts, { interval: 1 }).not.toEqual({ open: 0, finished: 24_000 });
  await server.kill();
  const response = await clearing;
  await server.start();
  await expect.poll(() => counts().catch(() => undefined), { timeout: 10_000 }).toBeDefined();
  const { finished } = await counts();
  expect(finished).toBeGreaterThan(0);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  const { removal, count } = (await response.json()) as { removal: string; count: number };
  expect(count).toBeGreaterThan(0);
  // The last step may be made and not answered.
  expect(count).toBeLessThanOrEqual(24_000 - finished);
  const restored = await send('POST', '/tasks/restore', { removal });
  expect(await restored.json()).toEqual({ count: 24_000 - finished });
  expect(await counts()).toEqual({ open: 0, finished: 24_000 });
});

test('Clearing that ends on the way leads a browser to the list: some to undo, the rest to clear', async () => {
  await insertFinished(3_000);
  const ending: TaskStore = {
    ...store,
    async clearFinished(removal) {
      await store.destroy('1', removal);
      await store.destroy('2', removal);
      return { count: 2, stop: new TaskError('store_unavailable', 'The tasks cannot be reached.') };
    },
  };
  const visitor = await visit(testApp(store));
  const response = await submit(testApp(ending), '/tasks/finished', { _method: 'DELETE' }, visitor);
  expect(response.status).toBe(303);
  const list = await testApp(store).request(response.headers.get('location') ?? '');
  const html = await list.text();
  expect(html).toContain('Deleted 2 tasks');
  expect(html).toContain('Undo');
  expect(await counts()).toEqual({ open: 0, finished: 2_998 });
  expect(html).toContain('Clear finished');
});

test('A full store says what frees space, and clearing needs none', async () => {
  await insertFinished(1_000);
  const app = testApp(store);
  const visitor = await visit(app);
  await redis.config('SET', 'maxmemory', '1');
  const refused = await submit(app, '/task', { title: 'milk' }, visitor);
  expect(refused.status).toBe(503);
  const html = await refused.text();
  expect(html).toContain('The store is full. Delete tasks or clear the finished ones');
  expect(html).toContain('value="milk"');
  const cleared = await submit(app, '/tasks/finished', { _method: 'DELETE' }, visitor);
  expect(cleared.headers.get('location')).toMatch(/^\/\?removal=/);
  expect(await counts()).toEqual({ open: 0, finished: 0 });
  await redis.config('SET', 'maxmemory', '0');
});

test.each(['DELETE /tasks/1', 'DELETE /tasks/finished'])(
  '%s names the removal though Redis answers too late, so that it can be undone',
  async (request) => {
    await insertFinished(1_000);
    const [method = '', path = ''] = request.split(' ');
    const app = testApp(store);
    await server.pause();
    const response = await app.request(path, { method, headers: { Accept: 'application/json' } });
    await server.resume();
    expect(response.status).toBe(503);
    const { removal } = (await response.json()) as { removal: string };
    expect(removal).toMatch(/^[0-9a-f-]{36}$/);
    const restored = () =>
      app.request('/tasks/restore', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ removal }),
      });
    await expect.poll(async () => (await restored()).status).toBe(200);
    await expect.poll(counts).toEqual({ open: 0, finished: 1_000 });
  },
);

test('The page after a removal that Redis answered too late leads to its Undo', async () => {
  await insertFinished(1_000);
  const app = testApp(store);
  const visitor = await visit(app);
  await server.pause();
  const response = await submit(app, '/tasks/1', { _method: 'DELETE' }, visitor);
  await server.resume();
  expect(response.status).toBe(503);
  const [, link = ''] = /href="(\/\?removal=[0-9a-f-]{36})"/.exec(await response.text()) ?? [];
  await expect.poll(async () => (await app.request(link)).text()).toContain('Undo');
});

test.each(['/tasks/9', '/tasks/1'])('DELETE %s that is refused names the removal as well', async (path) => {
  await insertFinished(1_000);
  const headers = { Accept: 'application/json', 'If-Match': '"1"' };
  const response = await testApp(store).request(path, { method: 'DELETE', headers });
  expect([404, 412]).toContain(response.status);
  expect(await response.json()).toMatchObject({ removal: expect.any(String) });
});
