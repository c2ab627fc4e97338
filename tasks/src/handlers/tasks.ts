import { randomUUID } from 'node:crypto';
import { queryOf, takeTurn } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { readLines } from '../task/import.ts';
import { changeSchema, formSchema, newTaskSchema, textOf } from '../task/schema.ts';
import { type Change, filters, type ListQuery, RevisionChanged, readTitle, type Task } from '../task/task.ts';
import { listSearch, partOf, searched, type TasksContext, taskId } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { changedText, isConflict, textBefore, wasFields, wasIn } from '../web/edit.ts';
import { requireDeliberate } from '../web/fetch-metadata.ts';
import { type Intent, nothing, withInput } from '../web/input.ts';
import { takeChange, tellChange, undoOf } from '../web/last-change.ts';
import { listPage } from '../web/list-page.ts';
import { html, json, tagged, taskJson, toList, wantsJson } from '../web/responses.ts';
import { number, type Undo } from '../web/views.ts';
import { removalFor, withRemoval } from './removals.ts';

/** One task, or the lines of a pasted list (`text`). */
const newTaskInput = {
  form: z.object({ ...newTaskSchema.shape, text: z.string().optional() }),
  json: newTaskSchema,
};

const changeInput = {
  form: formSchema.extend({ ...wasFields, undo: z.literal('yes').optional() }),
  json: changeSchema,
};

/** `isRetry`: the task is from an earlier request with the same nonce. */
type Added = { task: Task; isRetry: boolean };

type SentChange = Partial<z.output<typeof changeInput.form>>;

export function tasksHandlers({ store, csrf, cookies, auth, render, now, turns }: Dependencies) {
  const shown = listPage({ store, render, turns, auth });

  /** Hidden fields of a form. The nonce prevents a second task if the form is submitted twice. */
  const formValues = async (c: TasksContext) => ({ csrf: await csrf.issue(c), nonce: randomUUID() });

  /** Adds one task and returns it, or adds a task for each line of a pasted list. */
  const addSent = (c: TasksContext, time = now()): Promise<Added | undefined> =>
    withInput(c, csrf, newTaskInput, async ({ title = '', text, ...written }, { nonce, key }) => {
      if (text === undefined) {
        const task = await store.create({ ...written, title: readTitle(title) }, time, nonce, key);
        return { task, isRetry: task.created_at !== time.toISOString() };
      }
      const { tasks, report } = await readLines(text, time, () => takeTurn(c));
      const [problem] = report.problems;
      if (problem) throw new TaskError('invalid_title', `Line ${problem.line}: ${problem.detail}`);
      if (tasks.length === 0) throw new TaskError('invalid_title', 'A task needs a title.');
      await store.insert(tasks, nonce, 'form', key);
      return undefined;
    });

  /** Redirects to the list. Adds a notice with a link if the list may not show the task. */
  const toAdded = (c: TasksContext, status: 302 | 303, added?: Added) => {
    const { filter, after, q } = partOf(c);
    const mayBeElsewhere = added?.isRetry || filter === 'finished' || after || q;
    return toList(c, status, added && mayBeElsewhere ? { added: added.task._id } : {});
  };

  const undoChange = async (c: TasksContext): Promise<Undo | undefined> => {
    const change = await takeChange(cookies, c);
    const [task] = await store.find(change ? [change.id] : []);
    return change && task && undoOf(change, task.title);
  };

  const undoRemoval = async (c: TasksContext): Promise<Undo | undefined> => {
    const removal = queryOf(c).get('removal');
    const removed = removal === undefined ? undefined : await store.removed(removal);
    if (!removed) return undefined;
    const said = queryOf(c).get('cleared') === undefined ? 'Deleted' : 'Cleared';
    const [title, tasks] =
      removed.count > 1 ? [undefined, ` ${number(removed.count)} tasks`] : [removed.title, ''];
    return { said: `${said}${tasks}`, title, action: '/tasks/restore', fields: { removal: removed.removal } };
  };

  const setFinished = async (c: TasksContext, finished: 0 | 1) => {
    requireDeliberate(c.req);
    const [id, isHead] = [taskId(c), c.req.method === 'HEAD'];
    const task = await (isHead ? store.show(id) : store.update(id, { finished }, now()));
    // A retry offers Undo too, because the first response may have been lost.
    if (!isHead) await tellChange(cookies, c, task);
    return toList(c, 302);
  };

  const save = async (c: TasksContext, { undo, ...sent }: SentChange, { match }: Intent) => {
    if (match === undefined) {
      throw new TaskError(
        'revision_missing',
        'Send the ETag of the task in If-Match, so that you do not overwrite another change.',
      );
    }
    const was = wasIn(sent);
    const change: Change = changedText(sent);
    if (sent.finished !== undefined) change.finished = sent.finished;
    if (change.title !== undefined) change.title = readTitle(change.title);
    const id = taskId(c);
    const saved = store.update(id, change, now(), match);
    if (wantsJson(c)) return taskJson(c, await saved);
    const task = await saved.catch((error) => {
      if (!(error instanceof RevisionChanged)) throw error;
      const { current } = error;
      // An earlier request may have made this change even though its response was lost.
      if (holds(current, change)) return current;
      if (undo) error.message += ' Nothing was undone.';
      // Changes of different fields do not conflict.
      if (!undo && !isConflict(change, was, current))
        return store.update(id, change, now(), `"${current.revision}"`);
      throw error;
    });
    const before = textBefore(change, was);
    if (!undo && before) await tellChange(cookies, c, task, before);
    return toList(c, 303);
  };

  const remove = async (c: TasksContext, { match, nonce }: Intent) => {
    const id = taskId(c);
    const removal = removalFor(id, nonce);
    await withRemoval(removal, store.destroy(id, removal, match));
    return wantsJson(c) ? json(c, { removal }) : toList(c, 303, { removal });
  };

  const tasks = {
    async index(c: TasksContext) {
      const change = await undoChange(c);
      const undo = (await undoRemoval(c)) ?? change;
      const id = queryOf(c).get('added');
      const [added] = await store.find(id === undefined ? [] : [id]);
      const proxied = c.req.header('x-request-id') !== undefined;
      // Scripts name the request, which the browser has redirected to this page.
      const key = c.req.header('idempotency-key');
      const addedIds = key === undefined ? undefined : (await store.added(key))?.join(' ');
      const gone = id !== undefined && !added;
      const own = { ...(await formValues(c)), proxied, undo, added, addedIds, gone };
      return html(c, await shown.page(c, readQuery(c), own));
    },

    async partial(c: TasksContext) {
      const { etag, html } = await shown.partial(c, readQuery(c));
      return tagged(c, etag, 'text/html; charset=UTF-8', () => html);
    },

    async list(c: TasksContext) {
      if (!wantsJson(c)) return tasks.index(c);
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
      const title = sharedText(c);
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

    async create(c: TasksContext) {
      const added = await addSent(c);
      return wantsJson(c) && added ? taskJson(c, added.task, 201) : toAdded(c, 303, added);
    },

    async add(c: TasksContext) {
      return toAdded(c, 302, await addSent(c));
    },

    update: (c: TasksContext) => withInput(c, csrf, changeInput, (input, intent) => save(c, input, intent)),
    destroy: (c: TasksContext) => withInput(c, csrf, nothing, (_, intent) => remove(c, intent)),

    /** Handles browser forms, which cannot send `PUT` or `DELETE`. */
    submit: (c: TasksContext) =>
      withInput(c, csrf, { form: changeInput.form }, async (input, intent) => {
        if (intent.method === 'PUT') return save(c, input, intent);
        if (intent.method === 'DELETE') return remove(c, intent);
        throw new TaskError('bad_method', 'This form needs _method=PUT or _method=DELETE.');
      }),

    finish: (c: TasksContext) => setFinished(c, 1),
    unfinish: (c: TasksContext) => setFinished(c, 0),
  };
  return tasks;
}

/** Returns the shared text on one line. Apps may put a link in any of the fields, and repeat the title in the text. */
function sharedText(c: TasksContext): string {
  return ['title', 'text', 'url']
    .map((name) => queryOf(c).get(name) ?? '')
    .reduce((text, part) => (part.includes(text) ? part : text.includes(part) ? text : `${text} ${part}`))
    .replace(/\s+/g, ' ')
    .trim();
}

function holds(task: Task, change: Change): boolean {
  return Object.entries(change).every(([name, value]) => task[name as keyof Change] === value);
}

function readQuery(c: TasksContext): ListQuery {
  const asked = queryOf(c).get('filter') ?? 'all';
  const filter = filters.find((name) => name === asked);
  const q = searched(c);
  if (filter) return q ? { filter, q } : { filter, after: queryOf(c).get('after') };
  throw new TaskError('bad_filter', 'The filter must be all, open or finished.');
}
