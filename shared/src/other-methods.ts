import type { Context, Env, Hono } from 'hono';

/**
 * Rejects requests whose path has routes only for other methods. Passes the `Allow` header's value to `reject`. Call this
 * function before you add overlapping routes. For example, `/tasks/:id` also matches `PUT /tasks/import`.
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
