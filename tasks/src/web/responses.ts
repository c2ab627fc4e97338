import type { LazyResponse } from '@longhand/shared/routes.ts';
import { accepts } from 'hono/accepts';
import type { Task } from '../task/task.ts';
import { listSearch, partOf, type TasksContext } from './context.ts';

/** Pages may load only our own files and submit forms only to us. Inline code and framing are not allowed. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every response. The proxy adds `Strict-Transport-Security` where it terminates TLS. */
export const securityHeaders = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/**
 * Cache header of pages with a token and of responses to a change. `no-cache` must be the last directive, or lynx shows the old
 * list after a redirect.
 */
export const noStore = { 'Cache-Control': 'no-store, no-cache' };

const revalidate = { 'Cache-Control': 'private, no-cache' };

type Headers = Record<string, string>;

/** Makes a page or a file, when the client has its turn. */
type Make = () => string | Buffer<ArrayBuffer>;

/**
 * Responds with `headers` and the common headers. Hono's functions would create a `Headers` object, which takes more CPU time
 * than the rest of a short response.
 */
export function respond(
  c: TasksContext,
  body: LazyResponse['body'],
  status = 200,
  headers: Headers = {},
): LazyResponse {
  const all: Headers = { ...securityHeaders, ...headers };
  const cookie = c.get('cookie');
  if (cookie) all['Set-Cookie'] = cookie;
  return { status, headers: all, body };
}

/** Each path serves HTML or JSON, and the proxy may compress the response. */
const vary = { Vary: 'Accept, Accept-Encoding' };

/** Responds with an uncacheable page. */
export function html(c: TasksContext, page: Make, status = 200, headers?: Headers) {
  const type = { 'Content-Type': 'text/html; charset=UTF-8' };
  return respond(c, page, status, { ...type, ...vary, ...noStore, ...headers });
}

/** Responds with uncacheable JSON. */
export function json(c: TasksContext, value: object, status = 200, headers?: Headers) {
  const type = { 'Content-Type': 'application/json' };
  return respond(c, () => JSON.stringify(value), status, { ...type, ...vary, ...noStore, ...headers });
}

/** Maximum characters of `Accept` that are read. Browsers send about 200; 16 KB of commas would take a millisecond. */
const maxAccept = 1_000;

/** Whether `Accept` prefers JSON to HTML, or has no preference and the request body is JSON. */
export function wantsJson(c: TasksContext): boolean {
  const accept = c.req.header('accept');
  if (accept === undefined || accept === '*/*' || accept.length > maxAccept) {
    return /^application\/json\b/i.test(c.req.header('content-type') ?? '');
  }
  const supports = ['text/html', 'application/json', 'application/problem+json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) !== 'text/html';
}

/** Redirects to one of our paths. */
export function redirect(c: TasksContext, status: 302 | 303, path: string): LazyResponse {
  return respond(c, null, status, { Location: path, 'Content-Length': '0', ...noStore });
}

/** Redirects to the part of the list that the browser shows, with `more` in the query. */
export function toList(c: TasksContext, status: 302 | 303, more: Record<string, string> = {}): LazyResponse {
  return redirect(c, status, `/${listSearch(partOf(c), more)}`);
}

/** Responds with a task as JSON. `If-Match` requires a strong `ETag`. */
export function taskJson(
  c: TasksContext,
  { revision, ...task }: Task,
  status: 200 | 201 = 200,
): LazyResponse {
  const etag = `"${revision}"`;
  if (/^(GET|HEAD)$/.test(c.req.method))
    return tagged(c, etag, 'application/json', () => JSON.stringify(task));
  const location = status === 201 && { Location: `/tasks/${task._id}` };
  return json(c, task, status, { ETag: etag, ...location });
}

/** Whether `If-None-Match` has the ETag, by weak comparison (RFC 9110, section 13.1.2). */
function notModified(c: TasksContext, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  const known = (c.req.header('if-none-match') ?? '').split(',').map(opaque);
  return known.includes('*') || known.includes(opaque(etag));
}

/** Responds with `text` and its `ETag`, or with 304 if the client has this version. */
export function tagged(
  c: TasksContext,
  etag: string,
  type: string,
  make: Make,
  headers?: Headers,
): LazyResponse {
  const all = { ETag: etag, ...vary, ...revalidate, ...headers };
  if (notModified(c, etag)) return respond(c, null, 304, all);
  return respond(c, make, 200, { 'Content-Type': type, ...all });
}
