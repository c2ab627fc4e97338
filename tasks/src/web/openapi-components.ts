import { filters } from '../task/task.ts';
import { type SchemaName, schemas } from './openapi-schemas.ts';

export const text = { type: 'string' };
export const retryAfter = { 'Retry-After': { schema: { type: 'integer', minimum: 0 } } };

const parameters = {
  Filter: query('filter', { enum: filters, default: 'all' }),
  After: query(
    'after',
    { type: 'string', pattern: '^-[1-9][0-9]{0,15}$' },
    'The cursor in the next of the page before, with the same filter.',
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    'With the same key and title a second request makes no second task, for a day.',
  ),
  IfMatchRequired: {
    ...header('If-Match', 'The ETag of the task that was changed; * stands for any.'),
    required: true,
  },
  IfMatch: header('If-Match', 'The ETag of the task that is meant; * stands for any.'),
  IfNoneMatch: header('If-None-Match'),
};

const headers = { ETag: { schema: text }, Location: { schema: text } };

export const etag = { ETag: ref('headers', 'ETag') };

/** The responses to what failed, which are the same wherever their status is. */
const problems = {
  400: problem('BadRequest', 'bad_filter, bad_cursor, bad_json, or not_utf8'),
  401: problem('NotLoggedIn', 'not_logged_in: only a list with a password asks', {
    'WWW-Authenticate': { schema: text },
  }),
  403: problem('Forbidden', 'foreign_origin, or bad_token: a form without its token'),
  404: problem('NotFound', 'unknown_task or unknown_removal'),
  412: problem('RevisionChanged', 'revision_changed: the task has another ETag than those in If-Match'),
  413: problem('TooLarge', 'body_too_large: more than 64 KiB'),
  415: problem('UnsupportedType', 'unsupported_media_type'),
  422: problem('Unprocessable', 'invalid_title, or invalid_field: an unknown field, or one of another type'),
  428: problem('RevisionMissing', 'revision_missing: If-Match is required'),
  503: problem('Unavailable', 'store_unavailable or too_many_streams', retryAfter),
};

/** A list without a password asks for neither. */
export const security = [{}, { token: [] }, { session: [] }];

const securitySchemes = {
  token: { type: 'http', scheme: 'bearer', description: 'A token of TASKS_TOKENS_FILE.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'login',
    description: 'The session of a browser, from the form at /login; over TLS its name is __Host-login.',
  },
};

/** What the paths refer to. */
export function components() {
  const responses = Object.fromEntries(Object.values(problems).map(({ name, response }) => [name, response]));
  return { schemas, parameters, headers, responses, securitySchemes };
}

function ref(kind: 'headers' | 'parameters' | 'responses' | 'schemas', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

export function schema(name: SchemaName) {
  return ref('schemas', name);
}

export function query(name: string, values: object, description?: string) {
  return { name, in: 'query', description, schema: values };
}

function header(name: string, description?: string) {
  return { name, in: 'header', description, schema: text };
}

export function sent(...names: (keyof typeof parameters)[]) {
  return names.map((name) => ref('parameters', name));
}

export function json(values: object) {
  return { 'application/json': { schema: values } };
}

export function body(content: object) {
  return { required: true, content };
}

/** A form of a browser, with its token. */
export function form(fields: { _method: object; [name: string]: object }) {
  const description = 'The token in the hidden field of our pages, for the session in the cookie.';
  const properties = { _csrf: { ...text, description }, ...fields };
  const values = { type: 'object', required: ['_csrf', '_method'], properties };
  return body({ 'application/x-www-form-urlencoded': { schema: values } });
}

export function answer(description: string, name: SchemaName, headers?: object) {
  return { description, headers, content: json(schema(name)) };
}

export function removal() {
  return answer('The removal, for /tasks/restore', 'Removal');
}

export function toList() {
  return { description: 'To the list', headers: { Location: ref('headers', 'Location') } };
}

export function notModified() {
  return { description: 'Not modified since the ETag in If-None-Match', headers: etag };
}

function problem(name: string, description: string, headers?: object) {
  const content = { 'application/problem+json': { schema: schema('Problem') } };
  return { name, response: { description, headers, content } };
}

/** That nobody has logged in, and the statuses given. */
export function refused(...statuses: (keyof typeof problems)[]) {
  const all = [401, ...statuses] as const;
  return Object.fromEntries(all.map((status) => [status, ref('responses', problems[status].name)]));
}

/** An import that ended early: with its report if it had begun. */
export function importEnded(description: string) {
  const anyOf = [schema('ImportProblem'), schema('Problem')];
  return { description, content: { 'application/problem+json': { schema: { anyOf } } } };
}
