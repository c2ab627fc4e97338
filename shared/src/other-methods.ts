import type { Context, Env, Hono } from 'hono';

/**
 * Calls `reject` for every method that a path of `app` lacks. Routes added later do not get such requests: `/tasks/:id` would
 * match `PUT /tasks/import`.
 *
 * @param reject takes the path's methods, for the header `Allow`.
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
