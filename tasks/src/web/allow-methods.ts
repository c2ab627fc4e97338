import type { Hono, MiddlewareHandler } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { TaskError } from '../task/errors.ts';
import type { TasksEnv } from './context.ts';

/** The path exists, but not for this method. */
function reject(method: string, allowed: Iterable<string>): never {
  const allow = [...allowed].join(', ');
  const message =
    method === 'GET'
      ? `There is no page at this address: it takes ${allow} only.`
      : `This address does not take ${method}, only ${allow}.`;
  throw Object.assign(new TaskError('method_not_allowed', message), { allow });
}

/**
 * Rejects a method that the path does not have. Paths without parameters are checked first: `/tasks/import` is not the
 * id of a task, though `/tasks/:id` would match it.
 */
export function allowMethods(app: Hono<TasksEnv>): MiddlewareHandler<TasksEnv>[] {
  let exact: Map<string, Set<string>> | undefined;
  return [
    async (c, next) => {
      exact ??= exactPaths(app);
      const allowed = exact.get(c.req.path);
      if (allowed && !allowed.has(c.req.method)) reject(c.req.method, allowed);
      await next();
    },
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, allowed) => reject(c.req.method, allowed),
    }),
  ];
}

function exactPaths(app: Hono<TasksEnv>): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL' || /[:*]/.test(path)) continue;
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(method));
    if (method === 'GET') methods.add('HEAD');
  }
  return paths;
}
