import { TaskError } from '../task/errors.ts';
import type { Task } from '../task/task.ts';

/** A task's hash, as the scripts return it; without a title there is no task. */
export type Fields = [
  title: string | null,
  finished: string,
  created: string,
  updated: string | null,
  revision: string,
];

const taskId = /^[1-9]\d{0,14}$/;

/** @throws TaskError `unknown_task` for what the store would never assign; each id has exactly one spelling. */
export function requireId(id: string): void {
  if (!taskId.test(id)) throw unknownTask();
}

/** The task of an id; undefined if there is none. */
export function taskOf(id: string, fields: Fields): Task | undefined {
  const [title, finished, created_at, updated_at, revision] = fields;
  if (title === null) return undefined;
  return {
    _id: id,
    title,
    finished: finished === '1' ? 1 : 0,
    created_at,
    ...(updated_at && { updated_at }),
    revision: Number(revision),
  };
}

/** @throws TaskError `unknown_task` */
export function requireTask(id: string, fields: Fields | null | undefined): Task {
  const task = fields && taskOf(id, fields);
  if (!task) throw unknownTask();
  return task;
}

function unknownTask(): TaskError {
  return new TaskError('unknown_task', 'Somebody deleted this task, or it never existed.');
}
