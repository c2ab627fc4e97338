import type { HttpBindings } from '@hono/node-server';
import type { Turns } from '@longhand/shared/turns.ts';
import type { Context } from 'hono';
import { cursor, filters, type ListQuery } from '../task/task.ts';

export interface TasksEnv {
  /** Node's request and response; absent where a test calls the application without a server. */
  Bindings: Partial<HttpBindings> | undefined;
  Variables: {
    /** The cookie of a session that begins with this response. */
    cookie?: string;
  };
}

export type TasksContext = Context<TasksEnv>;

/** The task id in `/task/:id/…` and `/tasks/:id/…` as it was sent: a percent-encoded digit is another spelling. */
export function taskId(c: TasksContext): string {
  return new URL(c.req.url).pathname.split('/')[2] ?? '';
}

/** A parameter of the query. Hono would throw and catch an error for each percent sign that encodes nothing. */
export function queryParameter(c: TasksContext, name: string): string | undefined {
  return new URL(c.req.url).searchParams.get(name) ?? undefined;
}

/** The query in the address of a part of the list, with `more` in front; empty for the plain list. */
export function listSearch({ filter, after, q }: ListQuery, more: Record<string, string> = {}): string {
  const part = { ...((after || filter !== 'all') && { filter }), ...(after && { after }), ...(q && { q }) };
  const query = `${new URLSearchParams({ ...more, ...part })}`;
  return query && `?${query}`;
}

/** The part of the list in which a link or button was pressed: its query names it. */
export function partOf(c: TasksContext): ListQuery {
  const [asked, after = ''] = ['filter', 'after'].map((name) => queryParameter(c, name));
  const filter = filters.find((name) => name === asked) ?? 'all';
  return { filter, after: cursor.test(after) ? after : undefined, q: searched(c) };
}

/** The words to search for; undefined if there are none. */
export function searched(c: TasksContext): string | undefined {
  return queryParameter(c, 'q')?.trim() || undefined;
}

/** Who sent the request, as nginx names it, or the address that it came from. */
export function clientOf(c: TasksContext): string {
  return c.req.header('x-forwarded-for') ?? c.env?.incoming?.socket.remoteAddress ?? '';
}

/** Whether the client has closed its connection before it had a response. */
export function hasLeft(c: TasksContext): boolean {
  return c.env?.outgoing?.destroyed ?? false;
}

/** For the turns of the event loop of the client that sent the request. @throws Error if it has left meanwhile. */
export function turnsOf(c: TasksContext, turns: Turns): () => Promise<void> {
  return async () => {
    await turns([clientOf(c)]);
    if (hasLeft(c)) throw new Error('The client has left.');
  };
}
