import { beforeEach, expect, test } from 'vitest';
import { faultsOf } from './faults.ts';
import { allTasks, useStore } from './store.ts';

const now = new Date();
const kept = useStore();
const list = async () => (await kept.store.list({ filter: 'all' })).tasks.map(({ _id }) => _id);

beforeEach(async () => {
  for (const title of ['one', 'two', 'three', 'four']) await kept.store.create({ title }, now);
  await kept.store.update('2', { finished: 1 }, now);
  await kept.store.destroy('3', 'removal');
});

test('faultsOf finds a damaged index, and the store ignores stray ids', async () => {
  await kept.redis.zadd('{tasks}:index', -7, '7');
  await kept.redis.zrem('{tasks}:index', '4');
  await kept.redis.zadd('{tasks}:index', -2 - 2 ** 52, '2');
  await kept.redis.hset('{tasks}:task:9', 'finished', '1');
  await kept.redis.set('{tasks}:last-id', '3');
  expect((await faultsOf(kept.redis)).sort()).toEqual([
    'damaged: 9',
    'misplaced: 2',
    'neither listed nor removed, or both: 4',
    'neither listed nor removed, or both: 9',
    'no task: 7',
    'not assigned: 4',
    'not assigned: 9',
  ]);
  expect(await list()).toEqual(['2', '1']);
  const unknown = { code: 'unknown_task' };
  await expect(kept.store.show('7')).rejects.toMatchObject(unknown);
  await expect(kept.store.update('7', { finished: 1 }, now, '"1"')).rejects.toMatchObject(unknown);
  await expect(kept.store.destroy('7', 'another', '"1"')).rejects.toMatchObject(unknown);
  expect((await allTasks(kept.store)).map(({ _id }) => _id)).toEqual(['1', '2']);
});
