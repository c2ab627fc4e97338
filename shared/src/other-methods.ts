import type { Context, Env, Hono } from 'hono';

/**
 * Answers by `reject`, on each path that `app` has so far, the methods that it does not have there. Routes that are added
 * later do not see them: `/tasks/import` is not the id of a task, though `/tasks/:id` would match it.
 *
 * @param reject gets the methods of the path, for the header `Allow`.
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
