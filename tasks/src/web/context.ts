import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Input } from './input.ts';

/** What one request carries from handler to handler. */
export interface TasksEnv {
  /** What the request came in by; absent where it did not come over a socket. */
  Bindings: Partial<HttpBindings> | undefined;
  Variables: {
    /** The form that was sent, so that a page that refuses it can show it again: nobody types it twice. */
    typed?: Input;
    /** The cookie of a session that begins with the answer. */
    cookie?: string;
  };
}

export type TasksContext = Context<TasksEnv>;
