import { z } from 'zod';

/** In UTC the year has to have four digits still: an offset may lead out of the years that an export can write. */
const time = z.iso
  .datetime({ offset: true })
  .transform((value) => new Date(value).toISOString())
  .refine((utc) => /^\d{4}-/.test(utc), 'is not in the years 0000 to 9999');

/**
 * What a task consists of, in the order in which it is written. From it follow the types, what JSON and an import may
 * contain, what is exported and stored, and the schemas of /openapi.json. `readTitle` checks the title.
 */
export const taskSchema = z.strictObject({
  _id: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/)
    .describe('Assigned by the store in ascending order; each id has exactly one spelling.'),
  title: z
    .string()
    .describe(
      'One line of 1 to 500 characters with at least one visible one. It is stored in Unicode NFC, without surrounding white space.',
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

/** The fields that people write. */
export const changeSchema = taskSchema.pick({ title: true, finished: true }).partial();

export const newTaskSchema = changeSchema.omit({ finished: true });

/** The same in a browser's form, where everything is a string. */
export const formSchema = z.object({
  ...changeSchema.shape,
  finished: z
    .enum(['0', '1'])
    .transform((sent) => (sent === '1' ? 1 : 0))
    .optional(),
});

const count = z.int().min(0);
const line = z.int().min(1);

/** What undoes a removal. It is sent back as it was answered. */
export const removalSchema = z.strictObject({
  removal: z.string().describe('The name of the removal, for /tasks/restore.'),
  count: count.optional().describe('How many tasks were removed.'),
});

/** What became of an import. */
export const reportSchema = z.strictObject({
  imported: count,
  refused: count.describe('Tasks, or lines, that were not imported.'),
  problems: z
    .array(z.strictObject({ line, detail: z.string() }))
    .describe(
      'Why, for the first hundred of them: `line` is the line, or the element of a JSON array, from 1.',
    ),
});

/** A task to import: what the store assigns is ignored, what is left out is filled in. */
export const importSchema = z
  .object({
    ...taskSchema.omit({ _id: true }).shape,
    finished: taskSchema.shape.finished.default(0),
    created_at: time.optional(),
  })
  .describe('The years have to be 0000 to 9999 in UTC. Other fields, such as _id, are ignored.');
