import manifest from '../../package.json' with { type: 'json' };
import { errorStatuses } from '../task/errors.ts';
import { cursor, filters } from '../task/task.ts';
import { ref, schemas } from './openapi-schemas.ts';

const text = { type: 'string' };
const etag = { ETag: { schema: text } };
const json = (schema: object) => ({ 'application/json': { schema } });
const body = (content: object) => ({ required: true, content });

function header(name: string, description: string, required = false) {
  return { name, in: 'header', required, description, schema: text };
}

function query(name: string, schema: object, description?: string) {
  return { name, in: 'query', description, schema };
}

function answer(description: string, name: Parameters<typeof ref>[0], headers?: object) {
  return { description, headers, content: json(ref(name)) };
}

/** @param refused possible error statuses besides 401 and 503 */
function operation(
  operationId: string,
  refused: number[],
  rest: { responses: object; [name: string]: unknown },
) {
  const problems = [401, 503, ...refused].map((status) => {
    const codes = Object.entries(errorStatuses).filter(([, its]) => its === status);
    const content = { 'application/problem+json': { schema: ref('Problem') } };
    const description = codes.map(([code]) => code).join(', ');
    return [status, { description, content }];
  });
  const responses = { ...Object.fromEntries(problems), ...rest.responses };
  return { operationId, ...rest, responses };
}

/** Response statuses for an invalid body. */
const unreadable = [400, 403, 413, 415, 422];

const lines = (description: string) => ({ schema: { ...text, description } });

const idempotencyKey = header('Idempotency-Key', 'For a day, a retry with the same key and content is safe.');
const notModified = { description: 'Not modified since the ETag in If-None-Match', headers: etag };
const ifNoneMatch = header('If-None-Match', 'The ETag of the cached response.');
const removal = answer('The removal, for /tasks/restore', 'Removal');

const paths = {
  '/tasks': {
    get: operation('list', [400], {
      summary: 'A page of the list: open tasks first, newest first',
      parameters: [
        query('filter', { enum: filters, default: 'all' }),
        query('after', { ...text, pattern: cursor.source }, 'The cursor from `next`, with the same filter.'),
        query('q', text, 'Finds at most 100 titles with all these words. There is no next page and no ETag.'),
        ifNoneMatch,
      ],
      responses: {
        200: answer('At most 100 tasks', 'TaskList', {
          ...etag,
          Link: { description: 'The next page, with rel="next"', schema: text },
        }),
        304: notModified,
      },
    }),
    post: operation('create', unreadable, {
      summary: 'Adds an open task',
      parameters: [idempotencyKey],
      requestBody: body(json(ref('NewTask'))),
      responses: { 201: answer('The task', 'Task', { ...etag, Location: { schema: text } }) },
    }),
  },
  '/tasks/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: ref('Id') }],
    get: operation('show', [404], {
      summary: 'One task',
      parameters: [ifNoneMatch],
      responses: { 200: answer('The task', 'Task', etag), 304: notModified },
    }),
    put: operation('update', [...unreadable, 404, 412, 428], {
      summary: 'Changes the title, or finishes or reopens the task. Omitted fields keep their values',
      parameters: [header('If-Match', "The task's ETag, or * for any.", true)],
      requestBody: body(json(ref('TaskChange'))),
      responses: { 200: answer('The changed task', 'Task', etag) },
    }),
    delete: operation('destroy', [403, 404, 412], {
      summary: 'Deletes the task. It can be restored for a day',
      parameters: [header('If-Match', "The task's ETag, or * for any."), idempotencyKey],
      responses: { 200: removal },
    }),
  },
  '/tasks/finished': {
    delete: operation('clearFinished', [403], {
      summary: 'Deletes all finished tasks. They can be restored for a day',
      parameters: [idempotencyKey],
      responses: { 200: removal },
    }),
  },
  '/tasks/restore': {
    post: operation('restore', [...unreadable, 404], {
      summary: 'Undoes a deletion from the last day',
      parameters: [idempotencyKey],
      requestBody: body(json(ref('Removal'))),
      responses: { 200: answer('Number of restored tasks', 'Count') },
    }),
  },
  '/tasks/export': {
    get: operation('export', [400], {
      summary: 'All tasks, as a file for /tasks/import',
      parameters: [query('format', { enum: ['json', 'text'] }, 'The default depends on Accept.')],
      responses: {
        200: {
          description: 'A JSON array with one task per line, or a Markdown task list',
          content: { ...json({ type: 'array', items: ref('Task') }), 'text/plain': lines('Markdown') },
        },
      },
    }),
  },
  '/tasks/import': {
    post: operation('import', unreadable, {
      summary: 'Adds the tasks in a file (at most 1 MiB and 12,500 tasks) in one step',
      description:
        'Invalid tasks are skipped and reported. Plain text needs an Origin header with this host. One import at a time per client.',
      parameters: [idempotencyKey],
      requestBody: body({
        ...json({ type: 'array', items: ref('ImportedTask') }),
        'application/x-ndjson': lines('One ImportedTask, or an array of ImportedTask, per line.'),
        'text/plain': lines('One title per line, with or without a Markdown check box.'),
      }),
      responses: { 200: answer('Imported and refused tasks', 'Report') },
    }),
  },
  '/tasks/events': {
    get: operation('events', [], {
      summary: 'Server-sent events: the version of the list, now and after each change',
      responses: { 200: { description: 'data: <version>', content: { 'text/event-stream': {} } } },
    }),
  },
};

/** Describes the JSON interface (OpenAPI 3.1). */
export function openapi(): string {
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Longhand tasks',
      version: manifest.version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'A list of tasks. Send Accept: application/json. Browsers may write only from the same origin. Other clients need no Origin header. Errors are problem details (RFC 9457) with a stable code. A failed request changes nothing, except perhaps with store_unavailable. Then read the task, or retry with the same Idempotency-Key.',
    },
    // A list without a password needs no token.
    security: [{}, { token: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token from TASKS_TOKENS_FILE.' },
      },
    },
  };
  return JSON.stringify(document, undefined, 2);
}
