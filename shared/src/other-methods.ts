import type { Context, Env, Hono } from 'hono';

/**
 * Calls `reject` for every method that a path of `app` does not have. Routes added later do not see such requests:
 * `/tasks/import` is not the id of a task, though `/tasks/:id` would match it.
 *
 * @param reject gets the path's methods, for the header `Allow`.
 */
export function rejectOtherMethods<E extends Env>(
  app: Hono<E>,
  reject: (c: Context<E>, allow: string) => Response,
): void {
  const paths = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const methods = paths.get(path) ?? new Set();
    paths.set(path, methods.add(method));
    if (method === 'GET') methods.add('HEAD');
  }
  for (const [path, methods] of paths) {
    const allow = [...methods].join(', ');
    app.all(path, (c) => reject(c, allow));
  }
}
