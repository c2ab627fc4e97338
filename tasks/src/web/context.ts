import type { HttpBindings } from '@hono/node-server';
import { queryOf } from '@longhand/shared/routes.ts';
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

/** Returns the ID in `/task/:id/…` or `/tasks/:id/…` without decoding it, because percent-encoded digits are not valid. */
export function taskId(c: TasksContext): string {
  return new URL(c.req.url).pathname.split('/')[2] ?? '';
}

/** Returns the query string for a part of the list (empty for the whole list), after the parameters in `more`. */
export function listSearch({ filter, after, q }: ListQuery, more: Record<string, string> = {}): string {
  const part = { ...((after || filter !== 'all') && { filter }), ...(after && { after }), ...(q && { q }) };
  const query = `${new URLSearchParams({ ...more, ...part })}`;
  return query && `?${query}`;
}

/** Returns the filter, cursor and search in the query, ignoring invalid values. */
export function partOf(c: TasksContext): ListQuery {
  const query = queryOf(c);
  const asked = query.get('filter');
  const after = query.get('after') ?? '';
  const filter = filters.find((name) => name === asked) ?? 'all';
  return { filter, after: cursor.test(after) ? after : undefined, q: searched(c) };
}

/** Maximum code points of a search, each of one or two characters. Each link in the list contains the search text. */
const maxSearch = 100;

/** The text to search for, if any. */
export function searched(c: TasksContext): string | undefined {
  const q = queryOf(c).get('q') ?? '';
  // Only the start, because a query may have 8,000 characters.
  const characters = [...q.slice(0, 2 * maxSearch)];
  const words = characters.slice(0, maxSearch).join('').trim();
  return words || undefined;
}
