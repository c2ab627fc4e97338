import { randomUUID } from 'node:crypto';
import type { TasksContext } from '../context.ts';
import type { Csrf } from '../csrf.ts';
import { requireDeliberate } from '../fetch-metadata.ts';
import { readInput } from '../input.ts';
import type { ListPage } from '../list-page.ts';
import type { Render } from '../pages.ts';
import { Refusal } from '../refusal.ts';
import { filters, type ListQuery, readTitle, type TaskStore } from '../task.ts';

export interface TasksDependencies {
  store: TaskStore;
  csrf: Csrf;
  listPage: ListPage;
  render: Render;
  now: () => Date;
}

/** The tasks: the actions of the resource convention, and the links that finish and reopen one. */
export function tasksController({ store, csrf, listPage, render, now }: TasksDependencies) {
  /** What a page's forms need: a token, and a nonce by which a form that is sent twice is known. */
  const forms = async (c: TasksContext) => ({ csrf: await csrf.issue(c), nonce: randomUUID() });

  /** Finishes or reopens the task; a HEAD request looks only whether it is there. */
  const turn = async (c: TasksContext, finished: 0 | 1) => {
    requireDeliberate((name) => c.req.header(name));
    const id = c.req.param('id') ?? '';
    if (c.req.method === 'HEAD') await store.show(id);
    else await store.update(id, { finished }, now());
    return toList(c, 302);
  };

  return {
    async list(c: TasksContext) {
      const query = readQuery(c);
      return c.html(await listPage(query, await forms(c)), 200, noStore);
    },

    async new(c: TasksContext) {
      return c.html(render('new', await forms(c)), 200, noStore);
    },

    async show(c: TasksContext) {
      const task = await store.show(c.req.param('id') ?? '');
      return c.html(render('show', { task }), 200, noStore);
    },

    async edit(c: TasksContext) {
      const task = await store.show(c.req.param('id') ?? '');
      return c.html(render('edit', { id: task._id, ...task, ...(await forms(c)) }), 200, noStore);
    },

    async create(c: TasksContext) {
      const { title = '', nonce } = await readInput(c, csrf);
      await store.create(readTitle(title), now(), nonce);
      return toList(c, 302);
    },

    finish: (c: TasksContext) => turn(c, 1),
    unfinish: (c: TasksContext) => turn(c, 0),
  };
}

/** For a page with a token, and for what follows a change. */
const noStore = { 'Cache-Control': 'no-store' };

function toList(c: TasksContext, status: 302 | 303): Response {
  return c.body(null, status, { Location: '/', 'Content-Length': '0', ...noStore });
}

function readQuery(c: TasksContext): ListQuery {
  const asked = c.req.query('filter') ?? 'all';
  const filter = filters.find((name) => name === asked);
  if (!filter)
    throw new Refusal('bad_filter', `The list can show ${filters.join(', ')}; not ${JSON.stringify(asked)}.`);
  return { filter, after: c.req.query('after') };
}
