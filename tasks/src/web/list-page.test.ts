import { expect, test } from 'vitest';
import type { ListQuery, Page, Task } from '../task/task.ts';
import { type FormValues, listPage } from './list-page.ts';

const task = (_id: string, title: string, revision = 1): Task => ({
  ...{ _id, title, revision, finished: 0 },
  created_at: '2026-01-02T03:04:05.678Z',
});

/** The values of a request. */
const forms = (letter: string): FormValues => ({ csrf: letter.repeat(86), nonce: letter.repeat(36) });

/** What the views are given, each some of it. */
interface Data extends FormValues {
  list: string;
  rows: string;
  task: Task;
}

/** A list over `tasks`, and what was asked of its store and its views since `asked` was read last. */
function counted(tasks: Task[]) {
  let page: Page = { version: '1', tasks, open: tasks.length, finished: 0, before: 0 };
  const questions: string[] = [];
  const rendered: string[] = [];
  const store = {
    async list({ filter }: ListQuery, known?: Page) {
      questions.push(`${filter} ${known?.version ?? 'anew'}`);
      return known?.version === page.version ? known : page;
    },
  };
  const views: Record<string, (data: Data) => string> = {
    list: ({ csrf, nonce, list }) => `<form ${csrf} ${nonce}>${list}<form ${csrf}>`,
    tasks: ({ rows }) => rows,
    task: ({ task: { title } }) => `<li>${title}`,
  };
  const list = listPage(store, (view, data) => {
    rendered.push(view);
    return views[view]?.(data as unknown as Data) ?? '';
  });
  return {
    list,
    show: async (letter = 'a', query: ListQuery = { filter: 'all' }) =>
      [await list.page(query, forms(letter))]
        .flat()
        .join('')
        .replaceAll(/([a-z])\1{30,}/g, '$1'),
    asked: () => ({ questions: questions.splice(0), rendered: rendered.splice(0) }),
    /** Puts `changed` in the places of the tasks with their ids, as the store does: every task is read again. */
    change(...changed: Task[]) {
      const all = page.tasks.map((old) => changed.find(({ _id }) => _id === old._id) ?? { ...old });
      page = { ...page, version: `${Number(page.version) + 1}`, tasks: all };
    },
  };
}

test('while nothing changes nothing is rendered, and every page has its own token and nonce', async () => {
  const { list, show, asked } = counted([task('2', 'milk – 1 €'), task('1', 'bread')]);
  expect(await show('a')).toBe('<form a a><li>milk – 1 €<li>bread<form a>');
  asked();
  expect(await show('b')).toBe('<form b b><li>milk – 1 €<li>bread<form b>');
  expect(await show('a')).toBe('<form a a><li>milk – 1 €<li>bread<form a>');
  const { html, etag } = await list.partial({ filter: 'all' });
  expect(html).toBe('<li>milk – 1 €<li>bread');
  expect((await list.partial({ filter: 'all' })).etag).toBe(etag);
  expect(asked().rendered).toEqual([]);
});

test('after a change the one task that changed is rendered, and the page around it', async () => {
  const { list, show, asked, change } = counted([task('3', 'tea'), task('2', 'milk'), task('1', 'bread')]);
  await show();
  const { etag } = await list.partial({ filter: 'all' });
  asked();
  change(task('2', 'oat milk', 2));
  expect(await show()).toBe('<form a a><li>tea<li>oat milk<li>bread<form a>');
  expect(asked().rendered.toSorted()).toEqual(['list', 'task', 'tasks']);
  expect((await list.partial({ filter: 'all' })).etag).not.toBe(etag);
});

test('each filter has a first page of its own', async () => {
  const { show, asked } = counted([task('1', 'milk')]);
  const filters = ['all', 'open', 'finished'] as const;
  for (const filter of [...filters, ...filters]) await show('a', { filter });
  const again = ['all 1', 'open 1', 'finished 1'];
  expect(asked().questions).toEqual(['all anew', 'open anew', 'finished anew', ...again]);
});
