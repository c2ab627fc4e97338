import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createTasksMetrics } from './metrics.ts';
import { TaskError } from './task/errors.ts';
import type { TaskStore } from './task/task.ts';

const unavailable = new TaskError('store_unavailable', 'away');

test('writes are counted by action and by how they ended', async () => {
  const registry = new Registry();
  const store = {
    create: async (written: object) => written,
    destroy: () => Promise.reject(new TaskError('unknown_task', 'gone')),
    clearFinished: async () => ({ count: 4_000, stop: unavailable }),
    update: () => Promise.reject(new Error('a bug')),
    list: async () => ({ tasks: [] }),
  } as unknown as TaskStore;
  const counted = createTasksMetrics(registry).countWrites(store);
  expect(await counted.create({ title: 'a title' }, new Date())).toEqual({ title: 'a title' });
  await expect(counted.destroy('1', 'r')).rejects.toThrow('gone');
  await expect(counted.update('1', {}, new Date())).rejects.toThrow('a bug');
  expect(await counted.clearFinished('r')).toMatchObject({ count: 4_000 });
  await counted.list({ filter: 'all' });
  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => /^tasks_writes_total.* [1-9]/.test(line));
  expect(lines).toEqual([
    'tasks_writes_total{action="create",result="ok"} 1',
    'tasks_writes_total{action="clearFinished",result="store_unavailable"} 1',
    'tasks_writes_total{action="destroy",result="unknown_task"} 1',
    'tasks_writes_total{action="update",result="fault"} 1',
  ]);
});
