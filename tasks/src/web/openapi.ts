import {
  answer,
  body,
  components,
  etag,
  form,
  importEnded,
  json,
  notModified,
  query,
  refused,
  removal,
  retryAfter,
  schema,
  security,
  sent,
  text,
  toList,
} from './openapi-components.ts';
import { formProperties } from './openapi-schemas.ts';

const info = {
  title: 'Longhand tasks',
  version: '1.0.0',
  license: { name: 'MIT', identifier: 'MIT' },
  description:
    'A list of tasks. Send Accept: application/json. Writes have to come from the same origin, or from a client that is no browser (without the header Origin). Every error is a problem (RFC 9457) with a stable code; unless it says otherwise, nothing was changed. After store_unavailable a change may have happened: read the task, or send the same Idempotency-Key again.',
};

/** The statuses with which any JSON or form may be refused. */
const unreadable = [400, 403, 413, 415, 422] as const;

const paths = {
  '/tasks': {
    get: {
      operationId: 'list',
      summary: 'A page of the list: open tasks first, then newest first',
      parameters: sent('Filter', 'After', 'IfNoneMatch'),
      responses: {
        200: answer('At most 100 tasks', 'TaskList', {
          ...etag,
          Link: { description: 'The next page, with rel="next"', schema: text },
        }),
        304: notModified(),
        ...refused(400, 503),
      },
    },
    post: {
      operationId: 'create',
      summary: 'Adds an open task',
      parameters: sent('IdempotencyKey'),
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
      parameters: sent('IfNoneMatch'),
      responses: {
        200: answer('The task', 'Task', etag),
        304: notModified(),
        ...refused(404, 503),
      },
    },
    put: {
      operationId: 'update',
      summary: 'Changes the title, finishes or reopens the task; what is left out stays',
      parameters: sent('IfMatchRequired'),
      requestBody: body(json(schema('TaskChange'))),
      responses: {
        200: answer('The task as it is now', 'Task', etag),
        ...refused(...unreadable, 404, 412, 428, 503),
      },
    },
    delete: {
      operationId: 'destroy',
      summary: 'Removes the task; it can be restored for a day. A body is ignored.',
      parameters: sent('IfMatch'),
      responses: { 200: removal(), ...refused(403, 404, 412, 503) },
    },
    post: {
      operationId: 'submit',
      summary: 'PUT or DELETE for the form of a browser, which cannot send those',
      requestBody: form({
        _method: { enum: ['PUT', 'DELETE'] },
        ...formProperties,
        revision: { ...text, description: 'The revision that was edited: its ETag without quotes.' },
      }),
      responses: {
        200: {
          description: 'With Accept: application/json, as for PUT or DELETE',
          content: json({ anyOf: [schema('Task'), schema('Removal')] }),
        },
        303: toList(),
        ...refused(...unreadable, 404, 412, 428, 503),
      },
    },
  },
  '/tasks/finished': {
    delete: {
      operationId: 'clearFinished',
      summary: 'Removes all finished tasks; they can be restored for a day. A body is ignored.',
      responses: { 200: removal(), ...refused(403, 503) },
    },
    post: {
      operationId: 'submitClearFinished',
      summary: 'DELETE for the form of a browser, which cannot send that',
      requestBody: form({ _method: { const: 'DELETE' } }),
      responses: {
        200: answer('With Accept: application/json, as for DELETE', 'Removal'),
        303: toList(),
        ...refused(...unreadable, 503),
      },
    },
  },
  '/tasks/removals': {
    get: {
      operationId: 'removalsPage',
      summary: 'The page of the removals of the last day, with a button to undo each',
      responses: {
        200: { description: 'The page', content: { 'text/html': { schema: text } } },
        ...refused(503),
      },
    },
  },
  '/tasks/restore': {
    post: {
      operationId: 'restore',
      summary: 'Undoes a removal of the last day',
      requestBody: body(json(schema('Restoration'))),
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
      summary: 'Adds all tasks of a file, of at most 64 MiB. A faulty task is left out and reported.',
      description:
        'Plain text needs a header Origin that names this host, because other sites may send it without asking.',
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
        400: importEnded('bad_json: the JSON array is cut off; not_utf8'),
        413: importEnded('body_too_large: what came before the limit is imported'),
        422: importEnded('invalid_title: 10,000 tasks were refused, so the rest was not read'),
        503: {
          ...importEnded('store_unavailable: what was acknowledged before is imported'),
          headers: retryAfter,
        },
        ...refused(403, 415),
      },
    },
    get: {
      operationId: 'importPage',
      summary: 'The page with the import form',
      responses: {
        200: { description: 'The page', content: { 'text/html': { schema: text } } },
        ...refused(503),
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
  const document = { openapi: '3.1.0', info, servers, security, paths, components: components() };
  return JSON.stringify(document, undefined, 2);
}
