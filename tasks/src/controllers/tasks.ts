import { randomUUID } from 'node:crypto';
import { Refusal } from '../task/errors.ts';
import { filters, type ListQuery, readTitle, type TaskStore } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import type { Csrf } from '../web/csrf.ts';
import { requireDeliberate } from '../web/fetch-metadata.ts';
import { type Input, readInput } from '../web/input.ts';
import type { ListPage } from '../web/list-page.ts';
import { pageMemory } from '../web/page-memory.ts';
import { html, json, noStore, tagged, taskJson, toList, wantsJson } from '../web/responses.ts';
import type { Render } from '../web/views.ts';

export interface TasksDependencies {
  store: TaskStore;
  csrf: Csrf;
  listPage: ListPage;
  render: Render;
  now: () => Date;
}

/** The tasks: the actions of the resource convention, and the links that finish and reopen one. */
export function tasksController({ store, csrf, listPage, render, now }: TasksDependencies) {
  const join = pageMemory();

  const id = (c: TasksContext) => c.req.param('id') ?? '';

  /** What a page's forms need: a token, and a nonce by which a form that is sent twice is known. */
  const forms = async (c: TasksContext) => ({ csrf: await csrf.issue(c), nonce: randomUUID() });

  const created = async (c: TasksContext) => {
    const { title = '', nonce } = await readInput(c, csrf);
    return store.create(readTitle(title), now(), nonce);
  };

  /** Finishes or reopens the task; a HEAD request only looks whether it is there. */
  const turn = async (c: TasksContext, finished: 0 | 1) => {
    requireDeliberate((name) => c.req.header(name), c.req.url);
    if (c.req.method === 'HEAD') await store.show(id(c));
    else await store.update(id(c), { finished }, now());
    return toList(c, 302);
  };

  const update = async (c: TasksContext, { title, finished, match }: Input) => {
    if (match === undefined) throw revisionMissing();
    const change = { title: title === undefined ? undefined : readTitle(title), finished };
    const task = await store.update(id(c), change, now(), match);
    return wantsJson(c) ? taskJson(c, task) : toList(c, 303);
  };

  const destroy = async (c: TasksContext, { match }: Input) => {
    const removal = randomUUID();
    await store.destroy(id(c), removal, match);
    return wantsJson(c) ? json(c, { removal }, 200, noStore) : toList(c, 303, `?removal=${removal}`);
  };

  const tasks = {
    /** The list as a page, with its forms. */
    async index(c: TasksContext) {
      const removal = c.req.query('removal');
      const removed = removal === undefined ? undefined : await store.removed(removal);
      const pieces = await listPage.page(readQuery(c), { ...(await forms(c)), removed });
      return html(c, join(pieces, c.env?.outgoing), 200, { Vary: 'Accept', ...noStore });
    },

    /** The list alone, for a page that shows an older one. */
    async partial(c: TasksContext) {
      const { etag, partial } = await listPage.partial(readQuery(c));
      return tagged(c, etag, 'text/html; charset=UTF-8', partial);
    },

    async list(c: TasksContext) {
      if (!wantsJson(c)) return tasks.index(c);
      const query = readQuery(c);
      const { version, next, open, finished, ...page } = await store.list(query);
      const found = page.tasks.map(({ revision, ...task }) => task);
      const link = next && `/tasks?filter=${query.filter}&after=${next}`;
      const body = JSON.stringify({ tasks: found, open, finished, ...(link && { next: link }) });
      const headers = { ...(link && { Link: `<${link}>; rel="next"` }) };
      return tagged(c, `"${version}"`, 'application/json', body, headers);
    },

    async new(c: TasksContext) {
      return html(c, render('new', await forms(c)), 200, noStore);
    },

    async show(c: TasksContext) {
      const task = await store.show(id(c));
      if (wantsJson(c)) return taskJson(c, task);
      return html(c, render('show', { task, ...(await forms(c)) }), 200, { Vary: 'Accept', ...noStore });
    },

    async edit(c: TasksContext) {
      const { _id, title, revision } = await store.show(id(c));
      return html(c, render('edit', { id: _id, title, revision, ...(await forms(c)) }), 200, noStore);
    },

    async create(c: TasksContext) {
      const task = await created(c);
      return wantsJson(c) ? taskJson(c, task, 201) : toList(c, 303);
    },

    /** The form of the list. */
    async add(c: TasksContext) {
      await created(c);
      return toList(c, 302);
    },

    update: async (c: TasksContext) => update(c, await readInput(c, csrf)),
    destroy: async (c: TasksContext) => destroy(c, await readInput(c, csrf)),

    /** A form of a browser, which cannot send `PUT` and `DELETE` by itself. */
    async submit(c: TasksContext) {
      const input = await readInput(c, csrf);
      if (input._method === 'PUT') return update(c, input);
      if (input._method === 'DELETE') return destroy(c, input);
      throw new Refusal('bad_method', 'This form has to say _method=PUT or _method=DELETE.');
    },

    finish: (c: TasksContext) => turn(c, 1),
    unfinish: (c: TasksContext) => turn(c, 0),
  };
  return tasks;
}

function readQuery(c: TasksContext): ListQuery {
  const asked = c.req.query('filter') ?? 'all';
  const filter = filters.find((name) => name === asked);
  if (filter) return { filter, after: c.req.query('after') };
  throw new Refusal('bad_filter', `The list shows ${filters.join(', ')}; not ${JSON.stringify(asked)}.`);
}

function revisionMissing(): Refusal {
  return new Refusal(
    'revision_missing',
    'Say which revision you changed: its ETag in If-Match, so that nobody else’s change is lost.',
  );
}
