import { accepts } from 'hono/accepts';
import type { Task } from '../task/task.ts';
import { listSearch, partOf, type TasksContext } from './context.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * For pages with a token, and for responses to a change. lynx ignores `no-store`, and knows `no-cache` only at the end:
 * else it would show the old list after a redirect.
 */
export const noStore = { 'Cache-Control': 'no-store, no-cache' };

/** For responses with an `ETag`. */
const revalidate = { 'Cache-Control': 'private, no-cache' };

type Headers = Record<string, string>;

/**
 * A response with `headers` and the common ones, as a plain object, which the server writes as it is: the `Headers` of
 * Hono's own functions cost more than the rest of a short response.
 */
export function respond(
  c: TasksContext,
  body: string | Buffer<ArrayBuffer> | ReadableStream | null,
  status = 200,
  headers: Headers = {},
): Response {
  const cookie = c.get('cookie');
  const all = { ...securityHeaders, ...headers, ...lengthOf(body), ...(cookie && { 'Set-Cookie': cookie }) };
  return new Response(body, { status, headers: all });
}

/** Node computes the length for GET only. */
function lengthOf(body: unknown): Headers {
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return {};
  return { 'Content-Length': `${Buffer.byteLength(body)}` };
}

/** Pages and JSON share their paths, and the proxy compresses both. */
const vary = { Vary: 'Accept, Accept-Encoding' };

/** A page, perhaps with a token. */
export function html(c: TasksContext, page: string | Buffer<ArrayBuffer>, status = 200, headers?: Headers) {
  const type = { 'Content-Type': 'text/html; charset=UTF-8' };
  return respond(c, page, status, { ...type, ...vary, ...noStore, ...headers });
}

/** An uncached response in JSON. */
export function json(c: TasksContext, value: object, status = 200, headers?: Headers) {
  const type = { 'Content-Type': 'application/json' };
  return respond(c, JSON.stringify(value), status, { ...type, ...vary, ...noStore, ...headers });
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

/** Redirects to one of our paths. */
export function redirect(c: TasksContext, status: 302 | 303, path: string): Response {
  return respond(c, null, status, { Location: path, 'Content-Length': '0', ...noStore });
}

/** Redirects to the part of the list that the browser shows, with `more` in the query. */
export function toList(c: TasksContext, status: 302 | 303, more: Record<string, string> = {}): Response {
  return redirect(c, status, `/${listSearch(partOf(c), more)}`);
}

/** A task as JSON. Its revision is a strong `ETag`, which `If-Match` needs. */
export function taskJson(c: TasksContext, { revision, ...task }: Task, status: 200 | 201 = 200): Response {
  const etag = `"${revision}"`;
  if (/^(GET|HEAD)$/.test(c.req.method)) return tagged(c, etag, 'application/json', JSON.stringify(task));
  const location = status === 201 && { Location: `/tasks/${task._id}` };
  return json(c, task, status, { ETag: etag, ...location });
}

/** `If-None-Match`, with the weak comparison (RFC 9110, section 13.1.2). */
function notModified(c: TasksContext, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  const known = (c.req.header('if-none-match') ?? '').split(',').map(opaque);
  return known.includes('*') || known.includes(opaque(etag));
}

/** `text` with its `ETag`, or 304 if the client has it. */
export function tagged(
  c: TasksContext,
  etag: string,
  type: string,
  text: string | Buffer<ArrayBuffer>,
  headers?: Headers,
): Response {
  const all = { ETag: etag, ...vary, ...revalidate, ...headers };
  if (notModified(c, etag)) return respond(c, null, 304, all);
  return respond(c, text, 200, { 'Content-Type': type, ...all });
}
