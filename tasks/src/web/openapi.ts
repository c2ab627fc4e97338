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

/** The headers of a problem. */
const problemHeaders: Record<number, object> = {
  401: { 'WWW-Authenticate': { schema: text } },
  503: { 'Retry-After': { schema: { type: 'integer', minimum: 0 } } },
};

/** @param refused the statuses of its problems, besides 401 and 503, which any operation may have. */
function operation(
  operationId: string,
  refused: number[],
  rest: { responses: object; [name: string]: unknown },
) {
  const problems = [401, 503, ...refused].map((status) => {
    const codes = Object.entries(errorStatuses).filter(([, its]) => its === status);
    const content = { 'application/problem+json': { schema: ref('Problem') } };
    const description = codes.map(([code]) => code).join(', ');
    return [status, { description, headers: problemHeaders[status], content }];
  });
  const responses = { ...Object.fromEntries(problems), ...rest.responses };
  return { operationId, ...rest, responses };
}

/** The statuses with which any JSON or form may be refused. */
const unreadable = [400, 403, 413, 415, 422];

const notModified = { description: 'Not modified since the ETag in If-None-Match', headers: etag };
const ifNoneMatch = header('If-None-Match', 'The ETag of what the client has already.');
const removal = answer('The removal, for /tasks/restore', 'Removal');

const paths = {
  '/tasks': {
    get: operation('list', [400], {
      summary: 'A page of the list: open tasks first, then newest first',
      parameters: [
        query('filter', { enum: filters, default: 'all' }),
        query(
          'after',
          { ...text, pattern: cursor.source },
          'The cursor in the next of the page before, with the same filter.',
        ),
        query(
          'q',
          text,
          'Finds the first 100 tasks whose titles contain all of these words, whatever their case and accents. It stops after a second. There is no further page and no ETag.',
        ),
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
      parameters: [
        header(
          'Idempotency-Key',
          'With the same key and title a second request makes no second task, for a day.',
        ),
      ],
      requestBody: body(json(ref('NewTask'))),
      responses: { 201: answer('The task', 'Task', { ...etag, Location: { schema: text } }) },
    }),
  },
  '/tasks/{id}': {
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'Each id has exactly one spelling.',
        schema: ref('Id'),
      },
    ],
    get: operation('show', [404], {
      summary: 'One task',
      parameters: [ifNoneMatch],
      responses: { 200: answer('The task', 'Task', etag), 304: notModified },
    }),
    put: operation('update', [...unreadable, 404, 412, 428], {
      summary: 'Changes the title, finishes or reopens the task; what is left out stays',
      parameters: [header('If-Match', 'The ETag of the task that was changed; * stands for any.', true)],
      requestBody: body(json(ref('TaskChange'))),
      responses: { 200: answer('The task as it is now', 'Task', etag) },
    }),
    delete: operation('destroy', [403, 404, 412], {
      summary: 'Removes the task; it can be restored for a day. A body is ignored.',
      parameters: [header('If-Match', 'The ETag of the task that is meant; * stands for any.')],
      responses: { 200: removal },
    }),
  },
  '/tasks/finished': {
    delete: operation('clearFinished', [403], {
      summary: 'Removes all finished tasks; they can be restored for a day. A body is ignored.',
      responses: { 200: removal },
    }),
  },
  '/tasks/restore': {
    post: operation('restore', [...unreadable, 404], {
      summary: 'Undoes a removal of the last day',
      requestBody: body(json(ref('Removal'))),
      responses: { 200: answer('How many tasks were restored', 'Count') },
    }),
  },
  '/tasks/export': {
    get: operation('export', [400], {
      summary: 'All tasks in a file that /tasks/import takes',
      parameters: [query('format', { enum: ['json', 'text'] }, 'By default what the header Accept prefers.')],
      responses: {
        200: {
          description: 'A JSON array with one task per line, or a Markdown task list',
          headers: { 'Content-Disposition': { schema: text } },
          content: { ...json({ type: 'array', items: ref('Task') }), 'text/plain': { schema: text } },
        },
      },
    }),
  },
  '/tasks/import': {
    post: operation('import', unreadable, {
      summary:
        'Adds the tasks of a file, of at most 1 MiB and 12,500 tasks, all in one step. A faulty task is left out and reported.',
      description:
        'Plain text needs a header Origin that names this host, because other sites may send it without asking. One import at a time per client.',
      parameters: [
        header('Idempotency-Key', 'With the same key and titles a second import adds nothing, for a day.'),
      ],
      requestBody: body({
        ...json({ type: 'array', items: ref('ImportedTask') }),
        'application/x-ndjson': {
          schema: { ...text, description: 'One ImportedTask, or an array of them, per line.' },
        },
        'text/plain': {
          schema: { ...text, description: 'One title per line, with or without a Markdown check box.' },
        },
      }),
      responses: { 200: answer('What became of the file', 'Report') },
    }),
  },
  '/tasks/events': {
    get: operation('events', [], {
      summary: 'Server-sent events: the version of the list, at once and after each change',
      responses: { 200: { description: 'data: <version>', content: { 'text/event-stream': {} } } },
    }),
  },
};

/** The description of the JSON interface (OpenAPI 3.1). */
export function openapi(): string {
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Longhand tasks',
      version: manifest.version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'A list of tasks. Send Accept: application/json. Writes have to come from the same origin, or from a client that is no browser (without the header Origin). Every error is a problem (RFC 9457) with a stable code; unless it says otherwise, nothing was changed. After store_unavailable a change may have happened: read the task, or send the same Idempotency-Key again.',
    },
    servers: [{ url: '/' }],
    // A list without a password asks for neither.
    security: [{}, { token: [] }, { session: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of TASKS_TOKENS_FILE.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'login',
          description:
            'The session of a browser, from the form at /login; over TLS its name is __Host-login.',
        },
      },
    },
  };
  return JSON.stringify(document, undefined, 2);
}
