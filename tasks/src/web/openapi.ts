import manifest from '../../package.json' with { type: 'json' };
import { filters } from '../task/task.ts';
import {
  answer,
  body,
  components,
  etag,
  header,
  json,
  notModified,
  query,
  refused,
  schema,
  security,
  text,
} from './openapi-components.ts';

const info = {
  title: 'Longhand tasks',
  version: manifest.version,
  license: { name: 'MIT', identifier: 'MIT' },
  description:
    'A list of tasks. Send Accept: application/json. Writes have to come from the same origin, or from a client that is no browser (without the header Origin). Every error is a problem (RFC 9457) with a stable code; unless it says otherwise, nothing was changed. After store_unavailable a change may have happened: read the task, or send the same Idempotency-Key again.',
};

/** The statuses with which any JSON or form may be refused. */
const unreadable = [400, 403, 413, 415, 422];

const ifNoneMatch = header('If-None-Match', 'The ETag of what the client has already.');
const removal = answer('The removal, for /tasks/restore', 'Removal');

const paths = {
  '/tasks': {
    get: {
      operationId: 'list',
      summary: 'A page of the list: open tasks first, then newest first',
      parameters: [
        query('filter', { enum: filters, default: 'all' }),
        query(
          'after',
          { type: 'string', pattern: '^-[1-9][0-9]{0,15}$' },
          'The cursor in the next of the page before, with the same filter.',
        ),
        ifNoneMatch,
      ],
      responses: {
        200: answer('At most 100 tasks', 'TaskList', {
          ...etag,
          Link: { description: 'The next page, with rel="next"', schema: text },
        }),
        304: notModified,
        ...refused(400, 503),
      },
    },
    post: {
      operationId: 'create',
      summary: 'Adds an open task',
      parameters: [
        header(
          'Idempotency-Key',
          'With the same key and title a second request makes no second task, for a day.',
        ),
      ],
      requestBody: body(json(schema('NewTask'))),
      responses: {
        201: answer('The task', 'Task', { ...etag, Location: { schema: text } }),
        ...refused(...unreadable, 503),
      },
    },
  },
  '/tasks/{id}': {
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'Each id has exactly one spelling.',
        schema: schema('Id'),
      },
    ],
    get: {
      operationId: 'show',
      summary: 'One task',
      parameters: [ifNoneMatch],
      responses: {
        200: answer('The task', 'Task', etag),
        304: notModified,
        ...refused(404, 503),
      },
    },
    put: {
      operationId: 'update',
      summary: 'Changes the title, finishes or reopens the task; what is left out stays',
      parameters: [header('If-Match', 'The ETag of the task that was changed; * stands for any.', true)],
      requestBody: body(json(schema('TaskChange'))),
      responses: {
        200: answer('The task as it is now', 'Task', etag),
        ...refused(...unreadable, 404, 412, 428, 503),
      },
    },
    delete: {
      operationId: 'destroy',
      summary: 'Removes the task; it can be restored for a day. A body is ignored.',
      parameters: [header('If-Match', 'The ETag of the task that is meant; * stands for any.')],
      responses: { 200: removal, ...refused(403, 404, 412, 503) },
    },
  },
  '/tasks/finished': {
    delete: {
      operationId: 'clearFinished',
      summary: 'Removes all finished tasks; they can be restored for a day. A body is ignored.',
      responses: { 200: removal, ...refused(403, 503) },
    },
  },
  '/tasks/restore': {
    post: {
      operationId: 'restore',
      summary: 'Undoes a removal of the last day',
      requestBody: body(json(schema('Removal'))),
      responses: {
        200: answer('How many tasks were restored', 'Count'),
        ...refused(...unreadable, 404, 503),
      },
    },
  },
  '/tasks/export': {
    get: {
      operationId: 'export',
      summary: 'All tasks in a file that /tasks/import takes',
      parameters: [query('format', { enum: ['json', 'text'] }, 'By default what the header Accept prefers.')],
      responses: {
        200: {
          description: 'A JSON array with one task per line, or a Markdown task list',
          headers: { 'Content-Disposition': { schema: text } },
          content: { ...json({ type: 'array', items: schema('Task') }), 'text/plain': { schema: text } },
        },
        ...refused(400, 503),
      },
    },
  },
  '/tasks/import': {
    post: {
      operationId: 'import',
      summary:
        'Adds the tasks of a file, of at most 1 MiB and 12,500 tasks, all in one step. A faulty task is left out and reported.',
      description:
        'Plain text needs a header Origin that names this host, because other sites may send it without asking. One import at a time per client.',
      parameters: [
        header('Idempotency-Key', 'With the same key and titles a second import adds nothing, for a day.'),
      ],
      requestBody: body({
        ...json({ type: 'array', items: schema('ImportedTask') }),
        'application/x-ndjson': {
          schema: { ...text, description: 'One ImportedTask, or an array of them, per line.' },
        },
        'text/plain': {
          schema: { ...text, description: 'One title per line, with or without a Markdown check box.' },
        },
      }),
      responses: {
        200: answer('What became of the file', 'Report'),
        ...refused(...unreadable, 503),
      },
    },
  },
  '/tasks/events': {
    get: {
      operationId: 'events',
      summary: 'Server-sent events: the version of the list, at once and after each change',
      responses: {
        200: { description: 'data: <version>', content: { 'text/event-stream': {} } },
        ...refused(503),
      },
    },
  },
};

/** The description of the JSON interface (OpenAPI 3.1). */
export function openapi(): string {
  const servers = [{ url: '/' }];
  const document = { openapi: '3.1.0', info, servers, security, paths, components };
  return JSON.stringify(document, undefined, 2);
}
