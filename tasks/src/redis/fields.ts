import { TaskError } from '../task/errors.ts';
import { taskSchema } from '../task/schema.ts';
import type { NewTask, Task } from '../task/task.ts';

const taskNames = taskSchema.keyof().options;

/** A task as the scripts return it: every field is a string. */
export type Fields = Record<keyof NewTask | '_id' | 'revision', string>;

/** The task that `fields` describe. */
export function taskOf(fields: Fields): Task {
  const task: Partial<Record<keyof Task, unknown>> = {};
  for (const name of taskNames) if (fields[name] !== undefined) task[name] = fields[name];
  task.finished = fields.finished === '1' ? 1 : 0;
  task.revision = Number(fields.revision);
  return task as Task;
}

/** @throws TaskError `unknown_task` */
export function requireTask(fields: Fields | undefined): Task {
  if (!fields) throw new TaskError('unknown_task', 'Somebody deleted this task, or it never existed.');
  return taskOf(fields);
}
