import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

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
