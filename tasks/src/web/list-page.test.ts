import { expect, test } from 'vitest';
import type { ListQuery, Page, Task } from '../task/task.ts';
import { type ListPage, listPage } from './list-page.ts';

const task = (_id: string, title: string, revision = 1): Task => ({
  ...{ _id, title, revision, finished: 0 },
  created_at: '2026-01-02T03:04:05.678Z',
});

/** What the views are given, each some of it. */
interface Data {
  csrf: string;
  nonce: string;
  list: string;
  page: Page;
  row: (task: Task) => string;
  task: Task;
}

/** A list over `tasks`, and what was asked of its store and its views since `asked` was read last. */
function counted(tasks: Task[]) {
  let page: Page = { version: '1', tasks, open: tasks.length, finished: 0 };
  const questions: { query: ListQuery; known: Page | undefined }[] = [];
  const rendered: string[] = [];
  const store = {
    async list(query: ListQuery, known?: Page) {
      questions.push({ query, known });
      return known?.version === page.version ? known : page;
    },
  };
  const views: Record<string, (data: Data) => string> = {
    list: ({ csrf, nonce, list }) => `<form ${csrf} ${nonce}>${list}`,
    tasks: ({ page: { tasks: listed }, row }) => listed.map(row).join(''),
    task: ({ task: { title } }) => `<li>${title}`,
  };
  const list = listPage(store, (view, data) => {
    rendered.push(view);
    return views[view]?.(data as Data) ?? '';
  });
  return {
    list,
    asked: () => ({ questions: questions.splice(0), rendered: rendered.splice(0) }),
    /** Puts `changed` in the places of the tasks with their ids, which all others keep, as the store does. */
    change(...changed: Task[]) {
      const all = page.tasks.map((old) => changed.find(({ _id }) => _id === old._id) ?? old);
      page = { ...page, version: `${Number(page.version) + 1}`, tasks: all };
      return page;
    },
  };
}

const show = async (list: ListPage, csrf = 'token', query: ListQuery = { filter: 'all' }) =>
  `${await list.page(query, { csrf, nonce: 'nonce' })}`;

test('the list is not rendered again while nothing changes, only the page around it', async () => {
  const { list, asked } = counted([task('2', 'milk'), task('1', 'bread')]);
  expect(await show(list, 'one')).toBe('<form one nonce><li>milk<li>bread');
  asked();
  expect(await show(list, 'two')).toBe('<form two nonce><li>milk<li>bread');
  const { html, etag } = await list.partial({ filter: 'all' });
  expect(html).toBe('<li>milk<li>bread');
  expect((await list.partial({ filter: 'all' })).etag).toBe(etag);
  expect(asked().rendered).toEqual(['list']);
});

test('the store is told which page is known, so that it reads only what changed since', async () => {
  const { list, asked, change } = counted([task('1', 'milk')]);
  await show(list);
  const [first] = asked().questions;
  expect(first).toEqual({ query: { filter: 'all' }, known: undefined });
  const known = change(task('1', 'oat milk', 2));
  await show(list);
  await show(list);
  const [second, third] = asked().questions;
  expect(second?.known?.tasks[0]?.title).toBe('milk');
  expect(third?.known).toBe(known);
});

test('after a change the one task that changed is rendered, and the list round it', async () => {
  const { list, asked, change } = counted([task('3', 'tea'), task('2', 'milk'), task('1', 'bread')]);
  await show(list);
  const { etag } = await list.partial({ filter: 'all' });
  asked();
  change(task('2', 'oat milk', 2));
  expect(await show(list)).toBe('<form token nonce><li>tea<li>oat milk<li>bread');
  expect(asked().rendered.toSorted()).toEqual(['list', 'task', 'tasks']);
  expect((await list.partial({ filter: 'all' })).etag).not.toBe(etag);
});

test('each filter has a first page of its own', async () => {
  const { list, asked } = counted([task('1', 'milk')]);
  for (const filter of ['all', 'open', 'finished', 'all', 'open', 'finished'] as const)
    await show(list, 'token', { filter });
  const known = asked().questions.map(({ query, known }) => `${query.filter} ${known ? 'again' : 'anew'}`);
  expect(known).toEqual([
    'all anew',
    'open anew',
    'finished anew',
    'all again',
    'open again',
    'finished again',
  ]);
});
