import { z } from 'zod';
import { newTaskSchema, type TaskText, taskSchema } from '../task/schema.ts';
import { type Insert, maxTasks, type Task } from '../task/task.ts';
import type { TasksContext } from './context.ts';
import type { Cookies } from './cookies.ts';
import { number, type Undo } from './views.ts';

/** Seconds until the cookie expires. */
const maxAge = 60;

/** `was` is the text before an edit; absent if the task was finished or reopened. */
const changeSchema = z.object({
  id: taskSchema.shape._id,
  revision: z.int(),
  finished: taskSchema.shape.finished,
  was: newTaskSchema.optional(),
});

/** The fields of the form that takes back an insert. The form sends strings. */
export const insertSchema = z.object({
  first: taskSchema.shape._id,
  count: z.coerce.number().pipe(z.int().min(1).max(maxTasks)),
  revision: z.coerce.number().pipe(z.int()),
});

const lastChangeSchema = z.union([changeSchema, insertSchema]);

type Change = z.output<typeof changeSchema>;
type LastChange = z.output<typeof lastChangeSchema>;

/** Stores the change of a task for the next list page. */
export function tellChange(
  cookies: Cookies,
  c: TasksContext,
  { _id: id, revision, finished }: Task,
  was?: TaskText,
): Promise<void> {
  return store(cookies, c, { id, revision, finished, was });
}

/** Stores which tasks were added for the next list page. */
export const tellInsert = (cookies: Cookies, c: TasksContext, insert: Insert): Promise<void> =>
  store(cookies, c, insert);

/**
 * Stores the change in a cookie of at most 2.8 KB. Programs send no `Referer` and receive no cookie. A query string is not
 * possible, because `finish` must redirect to `/`, and titles must not be logged.
 */
async function store(cookies: Cookies, c: TasksContext, change: LastChange): Promise<void> {
  if (!c.req.header('referer')) return;
  const value = Buffer.from(JSON.stringify(change)).toString('base64url');
  await cookies.set(c, 'change', value, maxAge);
}

/** Returns the change from the cookie. */
export async function readChange(cookies: Cookies, c: TasksContext): Promise<LastChange | undefined> {
  const value = await cookies.read(c, 'change');
  if (!value) return undefined;
  try {
    return lastChangeSchema.parse(JSON.parse(Buffer.from(value, 'base64url').toString()));
  } catch {
    return undefined;
  }
}

/** Returns the change from the cookie, and deletes the cookie. */
export async function takeChange(cookies: Cookies, c: TasksContext): Promise<LastChange | undefined> {
  const change = await readChange(cookies, c);
  if (await cookies.read(c, 'change')) await cookies.remove(c, 'change');
  return change;
}

/** The ID of the changed task, or of the first added task. */
export const taskIn = (change: LastChange): string => ('first' in change ? change.first : change.id);

/**
 * An offer to undo a change. Undo fails if somebody has changed the task since.
 *
 * @param title the current title of `taskIn(change)`; undefined if that task was deleted
 */
export function undoOf(change: LastChange, title: string | undefined): Undo | undefined {
  if ('first' in change) return undoOfInsert(change, title);
  return title === undefined ? undefined : undoOfChange(change, title);
}

/** An offer to remove added tasks. Tasks that somebody has changed since are kept. */
function undoOfInsert(insert: Insert, title: string | undefined): Undo | undefined {
  if (insert.count > 1) return undoOfImport(insert);
  return title === undefined ? undefined : { ...undoOfImport(insert), said: 'Added', title };
}

/** Like `undoOfInsert`, for a page that shows no titles. */
export const undoOfImport = (insert: Insert): Undo => ({
  said: `Added ${number(insert.count)} ${insert.count === 1 ? 'task' : 'tasks'}`,
  action: '/tasks/added',
  fields: { _method: 'DELETE', ...insert },
});

function undoOfChange({ id, revision, finished, was }: Change, title: string): Undo {
  const fields = { _method: 'PUT', revision, undo: 'yes' };
  const offer = { title, action: `/tasks/${id}`, row: `#task-${id}` };
  if (was) return { ...offer, said: 'Saved', fields: { ...fields, ...was } };
  const said = finished ? 'Finished' : 'Reopened';
  return { ...offer, said, fields: { ...fields, finished: 1 - finished } };
}
