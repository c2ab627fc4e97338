import { accepts } from 'hono/accepts';
import type { Task } from '../task/task.ts';
import { notModified } from './conditional.ts';
import type { TasksContext } from './context.ts';
import { securityHeaders } from './security-headers.ts';

/** For pages with a token, and for responses to a change. */
export const noStore = { 'Cache-Control': 'no-store' };

/** For responses with an `ETag`: stored, and revalidated each time. Pages and JSON share their paths. */
const revalidate = { 'Cache-Control': 'private, no-cache', Vary: 'Accept' };

type Headers = Record<string, string>;

/**
 * A response with `headers` and those that every response has. They stay a plain object, which the server writes as it
 * is: a `Headers`, which Hono's own functions make, costs more than the rest of a short response.
 */
export function respond(
  c: TasksContext,
  body: string | Buffer<ArrayBuffer> | ReadableStream | null,
  status = 200,
  headers: Headers = {},
): Response {
  const cookie = c.get('cookie');
  return new Response(body, {
    status,
    headers: { ...securityHeaders, ...headers, ...(cookie && { 'Set-Cookie': cookie }) },
  });
}

/** A page. */
export function html(c: TasksContext, page: string | Buffer<ArrayBuffer>, status = 200, headers?: Headers) {
  return respond(c, page, status, { 'Content-Type': 'text/html; charset=UTF-8', ...headers });
}

/** `value` as JSON. */
export function json(c: TasksContext, value: object, status = 200, headers?: Headers) {
  return respond(c, JSON.stringify(value), status, { 'Content-Type': 'application/json', ...headers });
}

/** Whether the client prefers JSON to a page, or sent JSON and named no preference. */
export function wantsJson(c: TasksContext): boolean {
  const accept = c.req.header('accept');
  if (accept === undefined || accept === '*/*') {
    return /^application\/json\b/i.test(c.req.header('content-type') ?? '');
  }
  const supports = ['text/html', 'application/json', 'application/problem+json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) !== 'text/html';
}

/** Sends a browser to the list. */
export function toList(c: TasksContext, status: 302 | 303, query = ''): Response {
  return respond(c, null, status, { Location: `/${query}`, 'Content-Length': '0', ...noStore });
}

/** A task as JSON, with its revision as the `ETag`. */
export function taskJson(c: TasksContext, { revision, ...task }: Task, status: 200 | 201 = 200): Response {
  const etag = `"${revision}"`;
  if (/^(GET|HEAD)$/.test(c.req.method)) return tagged(c, etag, 'application/json', JSON.stringify(task));
  const location = status === 201 && { Location: `/tasks/${task._id}` };
  return json(c, task, status, { ETag: etag, ...noStore, ...location });
}

/** `body` with its `etag`, or 304 if the client already has it. */
export function tagged(
  c: TasksContext,
  etag: string,
  type: string,
  body: string,
  headers?: Headers,
): Response {
  const all = { ETag: etag, ...revalidate, ...headers };
  if (notModified(c, etag)) return respond(c, null, 304, all);
  return respond(c, body, 200, { 'Content-Type': type, ...all });
}
