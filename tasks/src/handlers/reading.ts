import { randomUUID } from 'node:crypto';
import { queryOf } from '@longhand/shared/routes.ts';
import { TaskError } from '../task/errors.ts';
import { textOf } from '../task/schema.ts';
import { sharedText } from '../task/shared-text.ts';
import { filters, type ListQuery } from '../task/task.ts';
import { listSearch, partOf, searched, type TasksContext, taskId } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { listPage } from '../web/list-page.ts';
import { html, json, tagged, taskJson, wantsJson } from '../web/responses.ts';
import { shownIds, undoneIn, undoOffers } from './undo-offers.ts';

type Used = Pick<Dependencies, 'store' | 'csrf' | 'cookies' | 'auth' | 'render' | 'turns'>;

/** The handlers that show tasks and forms. */
export function readingHandlers({ store, csrf, cookies, auth, render, turns }: Used) {
  const shown = listPage({ store, render, turns, auth });
  const undoOffer = undoOffers({ store, cookies });

  /** Hidden fields of a form. The nonce prevents a second task if the form is submitted twice. */
  const formValues = async (c: TasksContext) => ({ csrf: await csrf.issue(c), nonce: randomUUID() });

  const reading = {
    async index(c: TasksContext) {
      // Scripts name the request, which the browser has redirected to this page.
      const key = c.req.header('idempotency-key');
      const insert = key === undefined ? undefined : await store.added(key);
      const undo = await undoOffer(c, insert);
      const id = queryOf(c).get('added');
      const [added] = await store.find(id === undefined ? [] : [id]);
      const proxied = c.req.header('x-request-id') !== undefined;
      const addedIds = insert && shownIds(insert).join(' ');
      const gone = id !== undefined && !added;
      const undone = undoneIn(c);
      const own = { ...(await formValues(c)), proxied, undo, undone, added, addedIds, gone };
      return html(c, await shown.page(c, readQuery(c), own));
    },

    async partial(c: TasksContext) {
      const { etag, html } = await shown.partial(c, readQuery(c));
      return tagged(c, etag, 'text/html; charset=UTF-8', () => html);
    },

    async list(c: TasksContext) {
      if (!wantsJson(c)) return reading.index(c);
      const query = readQuery(c);
      const { version, open, finished, search, ...page } = await shown.list(c, query);
      const found = { tasks: page.tasks.map(({ revision, ...task }) => task), open, finished };
      // Sends no ETag, because a search that ran out of time may find more next time.
      if (search) return json(c, { ...found, ...search });
      const next = page.next && `/tasks?filter=${query.filter}&after=${page.next}`;
      const link = next && { Link: `<${next}>; rel="next"` };
      return tagged(c, `W/"${version}"`, 'application/json', () => JSON.stringify({ ...found, next }), {
        ...link,
      });
    },

    /** Shows the form for a new task, with text shared by another app (see the manifest). */
    async new(c: TasksContext) {
      const values = { ...(await formValues(c)), back: listSearch(partOf(c)) };
      const query = queryOf(c);
      const title = sharedText((name) => query.get(name));
      return html(c, () => render('new', { ...values, title }));
    },

    async show(c: TasksContext) {
      const task = await store.show(taskId(c));
      if (wantsJson(c)) return taskJson(c, task);
      const values = await formValues(c);
      return html(c, () => render('show', { task, back: '', ...values }));
    },

    async edit(c: TasksContext) {
      const { _id: id, ...task } = await store.show(taskId(c));
      const values = { ...(await formValues(c)), was: textOf(task), back: listSearch(partOf(c)) };
      return html(c, () => render('edit', { ...task, id, ...values }));
    },
  };
  return reading;
}

/** @throws TaskError `bad_filter` */
function readQuery(c: TasksContext): ListQuery {
  const asked = queryOf(c).get('filter') ?? 'all';
  const filter = filters.find((name) => name === asked);
  const q = searched(c);
  if (filter) return q ? { filter, q } : { filter, after: queryOf(c).get('after') };
  throw new TaskError('bad_filter', 'The filter must be all, open or finished.');
}
