import type { Hono } from 'hono';
import { TaskError } from '../task/errors.ts';
import type { TasksEnv } from './context.ts';

/**
 * Rejects, on each path that `app` has so far, the methods that it does not have there. Routes that are added later do
 * not see them: `/tasks/import` is not the id of a task, though `/tasks/:id` would match it.
 */
export function rejectOtherMethods(app: Hono<TasksEnv>): void {
  const paths = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(method));
    if (method === 'GET') methods.add('HEAD');
  }
  for (const [path, methods] of paths) {
    const allow = [...methods].join(', ');
    app.all(path, ({ req: { method } }) => {
      const message =
        method === 'GET'
          ? `There is no page at this address: it takes ${allow} only.`
          : `This address does not take ${method}, only ${allow}.`;
      throw Object.assign(new TaskError('method_not_allowed', message), { allow });
    });
  }
}
