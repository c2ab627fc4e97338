import { expect, test, vi } from 'vitest';
import type { Task } from '../task/task.ts';
import { createRows } from './rows.ts';

const task = (id: number, revision = 1, title = `task ${id}`): Task => ({
  _id: `${id}`,
  title,
  finished: 0,
  created_at: '2026-01-02T03:04:05.678Z',
  revision,
});

/** Renders rows with a view that shows the title and `back`. */
function testRows() {
  const rendered: string[] = [];
  const turn = vi.fn(async () => {});
  const render = (_: string, { task, back }: { task: Task; back: string }) => {
    rendered.push(task.title);
    return `<li>${task.title} ${back}</li>`;
  };
  const rows = createRows(render as never);
  return {
    rendered,
    turn,
    show: async (tasks: Task[], back = '') => Buffer.concat(await rows(tasks, back, turn)).toString(),
  };
}

test('renders a row once for all pages, and again after a change', async () => {
  const { rendered, show } = testRows();
  expect(await show([task(1)], '?filter=open')).toBe('<li>task 1 ?filter=open</li>');
  expect(await show([task(1)], '?after=1&filter=all')).toBe('<li>task 1 ?after=1&amp;filter=all</li>');
  expect(rendered).toEqual(['task 1']);
  expect(await show([task(1, 2, 'changed'), task(2)])).toBe('<li>changed </li><li>task 2 </li>');
});

test('waits for a turn after every few new rows, but not for cached rows', async () => {
  const { turn, show } = testRows();
  const page = Array.from({ length: 100 }, (_, i) => task(i));
  await show(page);
  await show(page);
  expect(turn).toHaveBeenCalledTimes(10);
});

test('renders rows again after they were evicted from the cache', async () => {
  const { rendered, show } = testRows();
  const large = 'x'.repeat(1024 * 1024);
  await show(Array.from({ length: 8 }, (_, i) => task(i, 1, large)));
  await show([task(7, 1, large)]);
  expect(rendered).toHaveLength(8);
  await show([task(0, 1, large)]);
  expect(rendered).toHaveLength(9);
});
