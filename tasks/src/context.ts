import type { Context } from 'hono';
import type { Input } from './input.ts';

/** What one request carries from handler to handler. */
export interface TasksEnv {
  Variables: {
    /** The form that was sent, so that a page that refuses it can show it again: nobody types it twice. */
    typed?: Input;
  };
}

export type TasksContext = Context<TasksEnv>;
