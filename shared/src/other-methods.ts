import type { Context, Env, Hono } from 'hono';

/**
 * Calls `reject` for a request if no route for its path has its method. `allow` is the value of the `Allow` header. Call this
 * before you add routes that match the same paths, as `/tasks/:id` matches `PUT /tasks/import`.
 */
export function rejectOtherMethods<E extends Env>(
  app: Hono<E>,
  reject: (c: Context<E>, allow: string) => Response,
): void {
  const routes = app.routes.filter(({ method }) => method !== 'ALL');
  for (const [path, same] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = same.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allow = [...new Set(methods)].join(', ');
    app.all(path, (c) => reject(c, allow));
  }
}
