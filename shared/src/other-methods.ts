import type { Context, Env } from 'hono';
import type { LazyResponse, Routes } from './routes.ts';

/**
 * Rejects requests whose path has routes only for other methods. Passes the `Allow` header's value to `reject`. Call this
 * function before you add overlapping routes. For example, `/tasks/:id` also matches `PUT /tasks/import`.
 */
export function rejectOtherMethods<E extends Env>(
  { app, all }: Pick<Routes<E>, 'app' | 'all'>,
  reject: (c: Context<E>, allow: string) => LazyResponse,
): void {
  const routes = app.routes.filter(({ method }) => method !== 'ALL');
  for (const [path, same] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = same.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allow = [...new Set(methods)].join(', ');
    all(path, (c) => reject(c, allow));
  }
}
