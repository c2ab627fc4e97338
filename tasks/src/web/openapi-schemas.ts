import { z } from 'zod';
import { errorCodes } from '../task/errors.ts';
import { changeSchema, formSchema, importSchema, newTaskSchema, taskSchema } from '../task/schema.ts';
import { pageSize } from '../task/task.ts';

const count = z.int().min(0);
const line = z.int().min(1);
const removal = z.string().describe('The name of the removal, for /tasks/restore.');
const newTask = newTaskSchema.required();

const report = z.strictObject({
  imported: count,
  refused: count.describe('Tasks, or lines, that were not imported.'),
  problems: z
    .array(z.strictObject({ line, detail: z.string() }))
    .describe('Why, for the first hundred of them, and why the import ended early.'),
  stopped: line.optional().describe('The line to go on from, if the import ended before the file did.'),
});

/** Problem details (RFC 9457). */
const problem = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string().describe('One sentence for people.'),
  code: z.enum(errorCodes).describe('Stable, for programs.'),
});

const described = {
  Id: taskSchema.shape._id,
  Title: taskSchema.shape.title,
  Task: taskSchema,
  TaskList: z.strictObject({
    tasks: z.array(taskSchema).max(pageSize),
    open: count.describe('How many open tasks exist, whatever the page shows.'),
    finished: count,
    next: z.string().optional().describe('The address of the next page; absent on the last.'),
  }),
  NewTask: newTask,
  TaskChange: changeSchema,
  ImportedTask: importSchema,
  Removal: z.strictObject({ removal, count: count.optional() }),
  Restoration: z.strictObject({
    removal,
    count: z.int().optional().describe('Ignored: a Removal may be sent back as it is.'),
  }),
  Count: z.strictObject({ count: z.int().min(1) }),
  Report: report,
  Problem: problem.extend({
    removal: z
      .string()
      .optional()
      .describe('In the error of a removal: its name. After store_unavailable it may have happened.'),
    count: z.int().optional().describe('How many tasks a removal is known to have removed.'),
  }),
  ImportProblem: problem.extend(report.required().shape),
};

/** The schemas of /openapi.json, made from those that check what is sent and answered. */
export const schemas = Object.fromEntries(
  Object.entries(described).map(([name, schema]) => [name, jsonSchema(schema)]),
);

/** What a form says of a task. */
export const formProperties = jsonSchema(formSchema).properties;

export type SchemaName = keyof typeof described;

function jsonSchema(schema: z.ZodType) {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      // The format says as much as its pattern.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.type === 'number' && jsonSchema.enum) jsonSchema.type = 'integer';
      // zod means that numbers are safe integers; nobody has to know.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return rest;
}
