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

/** The id in `/task/:id/…` and `/tasks/:id/…` as sent, because an id with percent-encoded digits is not valid. */
export function taskId(c: TasksContext): string {
  return new URL(c.req.url).pathname.split('/')[2] ?? '';
}

/** A query parameter. Hono would throw and catch an error for each stray percent sign. */
export function queryParameter(c: TasksContext, name: string): string | undefined {
  return new URL(c.req.url).searchParams.get(name) ?? undefined;
}

/** The query string for a part of the list, empty for the whole list. The parameters in `more` come first. */
export function listSearch({ filter, after, q }: ListQuery, more: Record<string, string> = {}): string {
  const part = { ...((after || filter !== 'all') && { filter }), ...(after && { after }), ...(q && { q }) };
  const query = `${new URLSearchParams({ ...more, ...part })}`;
  return query && `?${query}`;
}

/** The part of the list that the request came from. */
export function partOf(c: TasksContext): ListQuery {
  const [asked, after = ''] = ['filter', 'after'].map((name) => queryParameter(c, name));
  const filter = filters.find((name) => name === asked) ?? 'all';
  return { filter, after: cursor.test(after) ? after : undefined, q: searched(c) };
}

/** Max code points of a search. Every link in every row repeats the search. */
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

/** Returns a function that waits for the client's turn on the event loop. It throws if the client has disconnected. */
export function turnsOf(c: TasksContext, turns: Turns): () => Promise<void> {
  return async () => {
    await turns([clientOf(c)]);
    if (hasLeft(c)) throw new Error('The client has disconnected.');
  };
}
