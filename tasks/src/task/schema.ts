import { z } from 'zod';

/** Converts a time to UTC. Rejects years that do not have four digits in UTC, because exports cannot contain them. */
const time = z.iso
  .datetime({ offset: true })
  .transform((value) => new Date(value).toISOString())
  .refine((utc) => /^\d{4}-/.test(utc), 'is not in the years 0000 to 9999');

/**
 * The fields of a task, in export order. Types, storage, JSON validation, imports and /openapi.json derive from this schema.
 * A new field needs changes only here and in the views. `readTitle` validates the title.
 */
export const taskSchema = z.strictObject({
  _id: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/)
    .describe('Assigned in ascending order, without leading zeros.'),
  title: z
    .string()
    .describe(
      'One line of 1 to 500 characters, with at least one visible character. Stored trimmed, in Unicode NFC.',
    )
    .meta({
      minLength: 1,
      maxLength: 500,
      pattern:
        '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$',
    }),
  finished: z.literal([0, 1]),
  created_at: time,
  updated_at: time.optional().describe('When the task was last finished or reopened; absent before that.'),
});

/** The fields that clients can change. */
export const changeSchema = taskSchema.omit({ _id: true, created_at: true, updated_at: true }).partial();

export const newTaskSchema = changeSchema.omit({ finished: true });

/** The fields that users type. */
export const textNames = newTaskSchema.keyof().options;

/** A task's typed fields. */
export type TaskText = z.output<typeof newTaskSchema>;

/** The text of `task` without its other fields. */
export const textOf = (task: TaskText): TaskText =>
  Object.fromEntries(textNames.flatMap((name) => (task[name] === undefined ? [] : [[name, task[name]]])));

/** A change in a browser form, which sends strings. */
export const formSchema = z.object({
  ...changeSchema.shape,
  finished: z
    .enum(['0', '1'])
    .transform((sent) => (sent === '1' ? 1 : 0))
    .optional(),
});

const count = z.int().min(0);
const line = z.int().min(1);

/** The response to a removal, and the request to undo the removal. */
export const removalSchema = z.strictObject({
  removal: z.string().describe('The ID of the removal, for /tasks/restore.'),
  count: count.optional().describe('Number of removed tasks.'),
});

export const reportSchema = z.strictObject({
  imported: count,
  refused: count.describe('Number of tasks or lines not imported.'),
  problems: z
    .array(z.strictObject({ line, detail: z.string() }))
    .describe('The first 100 errors. `line` is the line number, or the position in a JSON array, from 1.'),
});

/** A task in an import, without the fields that the store assigns. */
export const importSchema = z
  .object({
    ...taskSchema.omit({ _id: true }).shape,
    finished: taskSchema.shape.finished.default(0),
    created_at: time.optional(),
  })
  .describe('Years must be 0000 to 9999 in UTC. Other fields, such as _id, are ignored.');
