import { expect, test } from 'vitest';
import type { Task } from '../task/task.ts';
import { createRows } from './rows.ts';

const task = (id: number, revision = 1, title = `task ${id}`): Task => ({
  _id: `${id}`,
  title,
  finished: 0,
  created_at: '2026-01-02T03:04:05.678Z',
  revision,
});

/** Rows of a view that shows the title and `back`. */
function testRows() {
  const rendered: string[] = [];
  let turns = 0;
  const render = (_: string, { task, back }: { task: Task; back: string }) => {
    rendered.push(task.title);
    return `<li>${task.title} ${back}</li>`;
  };
  const rows = createRows(render as never);
  return {
    rendered,
    turns: () => turns,
    async show(tasks: Task[], back = '') {
      const turn = async () => {
        turns += 1;
      };
      return Buffer.concat(await rows(tasks, back, turn)).toString();
    },
  };
}

test('a row is rendered once for all pages, and links back to its page', async () => {
  const { rendered, show } = testRows();
  expect(await show([task(1)], '?filter=open')).toBe('<li>task 1 ?filter=open</li>');
  expect(await show([task(1)], '?after=1&filter=all')).toBe('<li>task 1 ?after=1&amp;filter=all</li>');
  expect(rendered).toEqual(['task 1']);
});

test('a changed task is rendered again', async () => {
  const { show } = testRows();
  await show([task(1), task(2)]);
  expect(await show([task(1, 2, 'changed'), task(2)])).toBe('<li>changed </li><li>task 2 </li>');
});

test('a turn renders a few rows; cached rows need no turn', async () => {
  const { turns, show } = testRows();
  const page = Array.from({ length: 100 }, (_, i) => task(i));
  for (const _ of ['first', 'cached']) {
    await show(page);
    expect(turns()).toBe(10);
  }
});

test('the cache is bounded: evicted rows are rendered again', async () => {
  const { rendered, show } = testRows();
  const large = 'x'.repeat(1024 * 1024);
  await show(Array.from({ length: 8 }, (_, i) => task(i, 1, large)));
  await show([task(7, 1, large)]);
  expect(rendered).toHaveLength(8);
  await show([task(0, 1, large)]);
  expect(rendered).toHaveLength(9);
});
