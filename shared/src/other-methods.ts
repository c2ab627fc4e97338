import type { Context, Env, Hono } from 'hono';

/**
 * Calls `reject` for every method that a path of `app` lacks. `allow` is the `Allow` header. Call this before adding routes that
 * match the same paths: `/tasks/:id` would match `PUT /tasks/import`.
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
