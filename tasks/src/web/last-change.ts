import { z } from 'zod';
import { newTaskSchema, type TaskText, taskSchema } from '../task/schema.ts';
import type { Task } from '../task/task.ts';
import type { TasksContext } from './context.ts';
import type { Cookies } from './cookies.ts';
import type { Undo } from './views.ts';

/** Seconds until the cookie expires. */
const maxAge = 60;

/** `was` is the text before an edit; absent if the task was finished or reopened. */
const changeSchema = z.object({
  id: taskSchema.shape._id,
  revision: z.int(),
  finished: taskSchema.shape.finished,
  was: newTaskSchema.optional(),
});

type LastChange = z.output<typeof changeSchema>;

/**
 * Stores the change in a cookie of at most 2.8 KB for the next list page. Programs send no `Referer` and receive no cookie. A
 * query string is not possible, because `finish` must redirect to `/`, and titles must not be logged.
 */
export async function tellChange(
  cookies: Cookies,
  c: TasksContext,
  { _id: id, revision, finished }: Task,
  was?: TaskText,
): Promise<void> {
  if (!c.req.header('referer')) return;
  const value = Buffer.from(JSON.stringify({ id, revision, finished, was })).toString('base64url');
  await cookies.set(c, 'change', value, maxAge);
}

/** Returns the change from the cookie, and deletes the cookie. */
export async function takeChange(cookies: Cookies, c: TasksContext): Promise<LastChange | undefined> {
  const value = await cookies.read(c, 'change');
  if (!value) return undefined;
  await cookies.remove(c, 'change');
  try {
    return changeSchema.parse(JSON.parse(Buffer.from(value, 'base64url').toString()));
  } catch {
    return undefined;
  }
}

/** An offer to undo a change. Undo fails if somebody has changed the task since. @param title the current title */
export function undoOf({ id, revision, finished, was }: LastChange, title: string): Undo {
  const [said, before] =
    was === undefined ? [finished ? 'Finished' : 'Reopened', { finished: 1 - finished }] : ['Saved', was];
  const fields = { _method: 'PUT', revision, undo: 'yes', ...before };
  return { said, title, action: `/tasks/${id}`, fields, row: `#task-${id}` };
}
