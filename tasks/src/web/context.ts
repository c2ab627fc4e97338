import type { HttpBindings } from '@hono/node-server';
import type { Turns } from '@longhand/shared/turns.ts';
import type { Context } from 'hono';
import { cursor, filters, type ListQuery } from '../task/task.ts';

export interface TasksEnv {
  /** Node's request and response; absent if a test calls the application without a server. */
  Bindings: Partial<HttpBindings> | undefined;
  Variables: {
    /** The session cookie to set. */
    cookie?: string;
  };
}

export type TasksContext = Context<TasksEnv>;

/** Returns the id in `/task/:id/…` or `/tasks/:id/…` without decoding it, because percent-encoded digits are not valid. */
export function taskId(c: TasksContext): string {
  return new URL(c.req.url).pathname.split('/')[2] ?? '';
}

/** Returns a query parameter. Hono would throw and catch an error for each stray percent sign. */
export function queryParameter(c: TasksContext, name: string): string | undefined {
  return new URL(c.req.url).searchParams.get(name) ?? undefined;
}

/** Returns the query string for a part of the list (empty for the whole list), after the parameters in `more`. */
export function listSearch({ filter, after, q }: ListQuery, more: Record<string, string> = {}): string {
  const part = { ...((after || filter !== 'all') && { filter }), ...(after && { after }), ...(q && { q }) };
  const query = `${new URLSearchParams({ ...more, ...part })}`;
  return query && `?${query}`;
}

/** Returns the filter, cursor and search in the query, ignoring invalid values. */
export function partOf(c: TasksContext): ListQuery {
  const [asked, after = ''] = ['filter', 'after'].map((name) => queryParameter(c, name));
  const filter = filters.find((name) => name === asked) ?? 'all';
  return { filter, after: cursor.test(after) ? after : undefined, q: searched(c) };
}

/** Max code points of a search. Each link in the list contains the search text. */
const maxSearch = 100;

/** The text to search for, if any. */
export function searched(c: TasksContext): string | undefined {
  const words = [...(queryParameter(c, 'q') ?? '')].slice(0, maxSearch).join('').trim();
  return words || undefined;
}

/** The client's address, from nginx or the socket. */
export function clientOf(c: TasksContext): string {
  return c.req.header('x-forwarded-for') ?? c.env?.incoming?.socket.remoteAddress ?? '';
}

/** Whether the client has disconnected without a response. */
export function hasLeft(c: TasksContext): boolean {
  return c.env?.outgoing?.destroyed ?? false;
}

/** Returns a function that waits for the client's turn on the event loop, and throws if the client has disconnected. */
export function turnsOf(c: TasksContext, turns: Turns): () => Promise<void> {
  return async () => {
    await turns([clientOf(c)]);
    if (hasLeft(c)) throw new Error('The client has disconnected.');
  };
}
