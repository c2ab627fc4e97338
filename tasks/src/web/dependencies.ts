import type { Log } from '@longhand/shared/log.ts';
import type { Turns } from '@longhand/shared/turns.ts';
import type { Gauge } from 'prom-client';
import type { Changes, TaskStore } from '../task/task.ts';
import type { Auth } from './auth.ts';
import type { Cookies } from './cookies.ts';
import type { Csrf } from './csrf.ts';
import type { PublicFiles } from './static-files.ts';
import type { Render } from './views.ts';

export interface Dependencies {
  store: TaskStore;
  csrf: Csrf;
  cookies: Cookies;
  /** Set if the list has a password. */
  auth?: Auth | undefined;
  render: Render;
  files: PublicFiles;
  changes: Changes;
  /** Ends the event streams. */
  signal: AbortSignal;
  now: () => Date;
  log: Log;
  /** Counts the open event streams. */
  eventStreams?: Gauge;
  /** Shares the event loop fairly between clients. */
  turns: Turns;
}
