import { z } from 'zod';
import { errorStatuses } from '../task/errors.ts';
import {
  changeSchema,
  importSchema,
  newTaskSchema,
  removalSchema,
  reportSchema,
  taskSchema,
} from '../task/schema.ts';
import { pageSize } from '../task/task.ts';

const count = z.int().min(0);

/** Error codes of nginx (proxy/pages/errors.ts) and serve.ts. */
const proxyCodes =
  'bad_request headers_too_large length_required request_timeout timeout too_many_requests unavailable unknown_host unknown_method unreachable unsupported_version url_too_long';

const described = {
  Id: taskSchema.shape._id,
  Task: taskSchema,
  TaskList: z.strictObject({
    tasks: z.array(taskSchema).max(pageSize),
    open: count.describe('Open tasks on all pages.'),
    finished: count,
    next: z.string().optional().describe('The path of the next page; absent on the last page.'),
    searched: count.optional().describe('With q: number of titles compared.'),
    stopped: z.enum(['matches', 'time']).optional().describe('With q: why the search stopped early.'),
  }),
  NewTask: newTaskSchema.required(),
  TaskChange: changeSchema,
  ImportedTask: importSchema,
  Removal: removalSchema,
  Count: z.strictObject({ count: z.int().min(1) }),
  Report: reportSchema,
  /** Problem details (RFC 9457). */
  Problem: z.strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe('A sentence for users.'),
    code: z
      .enum([...Object.keys(errorStatuses), ...proxyCodes.split(' ')])
      .describe('A stable code for programs.'),
    removal: z
      .string()
      .optional()
      .describe('The ID of a failed removal. With store_unavailable, the removal may still have happened.'),
    count: z.int().optional().describe('Number of tasks confirmed as removed.'),
  }),
};

/** The schemas of /openapi.json, derived from the request validation schemas. */
export const schemas = Object.fromEntries(
  Object.entries(described).map(([name, schema]) => [name, jsonSchema(schema)]),
);

export const ref = (name: keyof typeof described) => ({ $ref: `#/components/schemas/${name}` });

function jsonSchema(schema: z.ZodType) {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      // The `date-time` format makes the pattern redundant.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.type === 'number' && jsonSchema.enum) jsonSchema.type = 'integer';
    },
  });
  return rest;
}
