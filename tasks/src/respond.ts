import { accepts } from 'hono/accepts';
import type { TasksContext } from './context.ts';
import type { Task } from './task.ts';

/** For a page with a token, and for what follows a change. */
export const noStore = { 'Cache-Control': 'no-store' };

/** For what an `ETag` goes with: kept, and asked about each time. Pages and JSON share their paths. */
const revalidate = { 'Cache-Control': 'private, no-cache', Vary: 'Accept' };

/** Whether the client asked for JSON rather than a page, or sent JSON and did not say. */
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
  return c.body(null, status, { Location: `/${query}`, 'Content-Length': '0', ...noStore });
}

/** A task as JSON, with its revision for an `ETag`. */
export function taskJson(c: TasksContext, { revision, ...task }: Task, status: 200 | 201 = 200): Response {
  const etag = `"${revision}"`;
  if (/^(GET|HEAD)$/.test(c.req.method)) return tagged(c, etag, 'application/json', JSON.stringify(task));
  const location = status === 201 && { Location: `/tasks/${task._id}` };
  return c.json(task, status, { ETag: etag, ...noStore, ...location });
}

/** `body` under its `etag`, or 304 where the client has it already. */
export function tagged(c: TasksContext, etag: string, type: string, body: string): Response {
  if (knows(c, etag)) return unchanged(c, etag);
  return c.body(body, 200, { 'Content-Type': type, ETag: etag, ...revalidate });
}

function unchanged(c: TasksContext, etag: string): Response {
  return c.body(null, 304, { ETag: etag, ...revalidate });
}

/** Whether `If-None-Match` names `etag`; the comparison is the weak one (RFC 9110 section 13.1.2). */
function knows(c: TasksContext, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, '');
  return (c.req.header('if-none-match') ?? '').split(',').some((tag) => strong(tag) === strong(etag));
}
