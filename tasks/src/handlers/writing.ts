import { takeTurn } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { readLines } from '../task/import.ts';
import { changeSchema, formSchema, newTaskSchema, type TaskText } from '../task/schema.ts';
import { type Change, type Insert, RevisionChanged, readTitle, type Task } from '../task/task.ts';
import { partOf, type TasksContext, taskId } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { changedText, isConflict, textBefore, wasFields, wasIn } from '../web/edit.ts';
import { requireDeliberate } from '../web/fetch-metadata.ts';
import { type Intent, isLongForm, nothing, withInput } from '../web/input.ts';
import { tellChange, tellInsert } from '../web/last-change.ts';
import { json, taskJson, toList, wantsJson } from '../web/responses.ts';
import type { Imports } from './imports.ts';
import { removalFor, withRemoval } from './removals.ts';

/** One task, or the lines of a pasted list (`text`). */
const newTaskInput = {
  form: z.object({ ...newTaskSchema.shape, text: z.string().optional() }),
  json: newTaskSchema,
  multipart: true,
} as const;

const changeInput = {
  form: formSchema.extend({ ...wasFields, undo: z.literal('yes').optional() }),
  json: changeSchema,
};

/** `task` is absent for a pasted list. */
interface Added {
  task?: Task;
  /** Whether the task is from an earlier request with the same nonce. */
  isRetry: boolean;
  insert?: Insert | undefined;
}

type Once = Pick<Intent, 'nonce' | 'key'>;

type SentChange = Partial<z.output<typeof changeInput.form>>;

type Used = Pick<Dependencies, 'store' | 'csrf' | 'cookies' | 'now'>;

/** The handlers that add, change and delete tasks. */
export function writingHandlers({ store, csrf, cookies, now }: Used, { requirePlace, inPlace }: Imports) {
  /** Adds one task and returns it, or adds a task for each line of a pasted list. */
  const addSent = async (c: TasksContext, time = now()): Promise<Added> => {
    if (isLongForm(c)) requirePlace(c);
    return withInput(c, csrf, newTaskInput, async ({ title = '', text, ...written }, { nonce, key }) => {
      if (text === undefined) {
        const created = await store.create({ ...written, title: readTitle(title) }, time, nonce, key);
        return { ...created, isRetry: created.task.created_at !== time.toISOString() };
      }
      const add = () => addLines(c, text, time, { nonce, key });
      return { isRetry: false, insert: await (isLongForm(c) ? inPlace(c, add) : add()) };
    });
  };

  /** Adds all lines of a pasted list, or none. */
  const addLines = async (c: TasksContext, text: string, time: Date, { nonce, key }: Once) => {
    const { tasks, report } = await readLines(text, time, () => takeTurn(c));
    const [problem] = report.problems;
    if (problem) throw new TaskError('invalid_title', `Line ${problem.line}: ${problem.detail}`);
    if (tasks.length === 0) throw new TaskError('invalid_title', 'A task needs a title.');
    return store.insert(tasks, nonce, 'form', key);
  };

  /** Redirects to the list. Adds a notice with a link if the list may not show the task. */
  const toAdded = async (c: TasksContext, status: 302 | 303, { task, isRetry, insert }: Added) => {
    if (insert) await tellInsert(cookies, c, insert);
    const { filter, after, q } = partOf(c);
    const mayBeElsewhere = isRetry || filter === 'finished' || after || q;
    const id = task?._id ?? insert?.first;
    return toList(c, status, id && mayBeElsewhere ? { added: id } : {});
  };

  const setFinished = async (c: TasksContext, finished: 0 | 1) => {
    requireDeliberate(c.req);
    const id = taskId(c);
    if (c.req.method === 'HEAD') {
      await store.show(id);
      return toList(c, 302);
    }
    // A retry offers Undo too, because the first response may have been lost.
    await tellChange(cookies, c, await store.update(id, { finished }, now()));
    return toList(c, 302);
  };

  /** Makes the change of a form, unless somebody else has changed the same fields to other values. */
  const merge = async (id: string, change: Change, was: TaskText, match: string): Promise<Task> => {
    try {
      return await store.update(id, change, now(), match);
    } catch (error) {
      if (!(error instanceof RevisionChanged)) throw error;
      const { current } = error;
      // An earlier request may have made this change even though its response was lost.
      if (holds(current, change)) return current;
      if (isConflict(change, was, current)) throw error;
      return store.update(id, change, now(), `"${current.revision}"`);
    }
  };

  /** Makes the change of an Undo, unless somebody else has changed the task at all. */
  const undo = async (id: string, change: Change, match: string): Promise<void> => {
    try {
      await store.update(id, change, now(), match);
    } catch (error) {
      if (!(error instanceof RevisionChanged)) throw error;
      if (holds(error.current, change)) return;
      error.message += ' Nothing was undone.';
      throw error;
    }
  };

  const save = async (c: TasksContext, sent: SentChange, intent: Intent) => {
    const match = requireMatch(intent);
    const change = changeIn(sent);
    const id = taskId(c);
    if (wantsJson(c)) return taskJson(c, await store.update(id, change, now(), match));
    if (sent.undo) {
      await undo(id, change, match);
      return toList(c, 303);
    }
    const was = wasIn(sent);
    const task = await merge(id, change, was, match);
    const before = textBefore(change, was);
    if (before) await tellChange(cookies, c, task, before);
    return toList(c, 303);
  };

  const remove = async (c: TasksContext, { match, nonce }: Intent) => {
    const id = taskId(c);
    const removal = removalFor(id, nonce);
    await withRemoval(removal, store.destroy(id, removal, match));
    return wantsJson(c) ? json(c, { removal }) : toList(c, 303, { removal });
  };

  return {
    async create(c: TasksContext) {
      const added = await addSent(c);
      return wantsJson(c) && added.task ? taskJson(c, added.task, 201) : toAdded(c, 303, added);
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
}

/** @throws TaskError `revision_missing` */
function requireMatch({ match }: Intent): string {
  if (match !== undefined) return match;
  throw new TaskError(
    'revision_missing',
    'Send the ETag of the task in If-Match, so that you do not overwrite another change.',
  );
}

/** Returns the fields that the user has changed. @throws TaskError `invalid_title` */
function changeIn(sent: SentChange): Change {
  const change: Change = changedText(sent);
  if (sent.finished !== undefined) change.finished = sent.finished;
  if (change.title !== undefined) change.title = readTitle(change.title);
  return change;
}

function holds(task: Task, change: Change): boolean {
  return Object.entries(change).every(([name, value]) => task[name as keyof Change] === value);
}
