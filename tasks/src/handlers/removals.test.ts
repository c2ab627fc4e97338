import type { Timed } from '@longhand/shared/durations.ts';
import { expect, test } from 'vitest';
import { submit, testApp, useApp, type Visitor, visit } from '../../testing/app.ts';
import { redisStore } from '../redis/store.ts';

const kept = useApp();

const insertFinished = async (count: number) => {
  const finished = { title: 'done', finished: 1, created_at: kept.now.toISOString() } as const;
  for (let i = 0; i < count; i += 1_000) await kept.store.insert(Array(1_000).fill(finished));
};
const send = (method: string, path: string, body: object = {}) => {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  return kept.app.request(path, { method, headers, body: JSON.stringify(body) });
};

test('Recently deleted shows 200 deletions, with a note if there are more', async () => {
  const page = async () => (await kept.app.request('/tasks/removals')).text();
  const remove = async (i: number) =>
    kept.store.destroy((await kept.store.create({ title: 'milk' }, kept.now)).task._id, `removal ${i}`);
  await Promise.all(Array.from({ length: 200 }, (_, i) => remove(i)));
  expect(await page()).not.toContain('There are more.');
  await remove(200);
  expect(await page()).toContain('These are the latest 200 deletions. There are more.');
});

test('A retried removal offers Undo again, because the first response may have been lost', async () => {
  await kept.store.create({ title: 'milk' }, kept.now);
  await insertFinished(1);
  const visitor = await visit(kept.app);
  const remove = async (path: string, nonce: string) =>
    (await submit(kept.app, path, { _method: 'DELETE', nonce }, visitor)).headers.get('location');
  for (const path of ['/tasks/1', '/tasks/finished']) {
    const first = await remove(path, 'n'.repeat(1_000));
    expect(first).toMatch(/^\/\?removal=[\w-]{43}(&cleared=yes)?$/);
    expect(await remove(path, 'n'.repeat(1_000))).toBe(first);
  }
  expect(await remove('/tasks/1', 'other')).toBeNull();
});

test('A retried restore says Restored again, because a second tap cancels the first response', async () => {
  await insertFinished(5_000);
  await kept.store.clearFinished('removal');
  const visitor = await visit(kept.app, {}, '/tasks/removals');
  const restore = async (nonce: string, search = '?from=removals') => {
    const fields = { removal: 'removal', nonce };
    return (await submit(kept.app, `/tasks/restore${search}`, fields, visitor)).headers.get('location');
  };
  for (const _ of [1, 2]) expect(await restore(visitor.nonce)).toBe('/tasks/removals?restored=5000');
  expect(await restore(visitor.nonce, '')).toBe('/');
  expect(await restore('other')).toBe('/tasks/removals?restored=0');
});

const counts = async () => {
  const { open, finished } = await kept.store.list({ filter: 'all' });
  return { open, finished };
};

test('Clear finished returns the removal ID and count even if it fails halfway', async () => {
  await insertFinished(6_000);
  let steps = 0;
  const timed: Timed = async (name, run) => {
    if (name === 'clear' && ++steps === 2) await kept.server.kill();
    return run();
  };
  kept.app = testApp(redisStore(kept.redis, { timed }));
  const response = await send('DELETE', '/tasks/finished');
  await kept.server.start();
  await expect.poll(() => counts().catch(String)).toEqual({ open: 0, finished: 2_000 });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  const { removal, count } = (await response.json()) as { removal: string; count: number };
  expect(count).toBe(4_000);
  expect(await (await send('POST', '/tasks/restore', { removal })).json()).toEqual({ count: 4_000 });
  expect(await counts()).toEqual({ open: 0, finished: 6_000 });
});

test.each([
  ['DELETE /tasks/1 as JSON', () => send('DELETE', '/tasks/1'), /"removal":"([0-9a-f-]{36})"/],
  [
    'A form that clears the finished tasks',
    (visitor: Visitor) => submit(kept.app, '/tasks/finished', { _method: 'DELETE' }, visitor),
    /href="\/\?removal=([0-9a-f-]{36})"/,
  ],
])('%s can be undone after a timeout of Redis: the error has its removal', async (_, remove, name) => {
  await insertFinished(1_000);
  const visitor = await visit(kept.app);
  await kept.server.pause();
  const response = await remove(visitor);
  await kept.server.resume();
  expect(response.status).toBe(503);
  const [, removal] = name.exec(await response.text()) ?? [];
  await expect.poll(async () => (await send('POST', '/tasks/restore', { removal })).status).toBe(200);
  await expect.poll(counts).toEqual({ open: 0, finished: 1_000 });
});
