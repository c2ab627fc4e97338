type Method = 'get' | 'post' | 'put' | 'delete';
type ResourceApp<Handler> = Record<Method, (path: string, handler: Handler) => unknown>;
type Action = 'list' | 'new' | 'show' | 'edit' | 'create' | 'update' | 'destroy';

/** The seven routes in order of registration. `/new` must precede `/:id`, which would match it. */
const routes: readonly (readonly [Method, string, Action])[] = [
  ['get', '', 'list'],
  ['get', '/new', 'new'],
  ['get', '/:id', 'show'],
  ['get', '/:id/edit', 'edit'],
  ['post', '', 'create'],
  ['put', '/:id', 'update'],
  ['delete', '/:id', 'destroy'],
];

/** Unreserved characters (RFC 3986 section 2.3), separated by single slashes. */
const resourceName = /^[A-Za-z0-9\-_.~]+(?:\/[A-Za-z0-9\-_.~]+)*$/;

/**
 * Registers a route under `/<name>` for each action that `mod` implements. Actions are called as methods of `mod`.
 *
 * @throws TypeError if `name` is not a path of unreserved characters, or `mod` is not an object
 */
export function resource<Handler extends (...args: never[]) => unknown>(
  app: ResourceApp<Handler>,
  name: string,
  mod: { readonly [A in Action]?: unknown },
): void {
  if (typeof name !== 'string' || !resourceName.test(name)) {
    throw new TypeError(
      `resource name ${JSON.stringify(name)}: use letters, digits, "-", "_", ".", "~" and inner "/"`,
    );
  }
  if (mod === null || (typeof mod !== 'object' && typeof mod !== 'function')) {
    throw new TypeError(`resource ${name}: the handlers are ${mod}, not an object`);
  }
  for (const [method, path, action] of routes) {
    const handler = mod[action];
    if (typeof handler === 'function') app[method](`/${name}${path}`, handler.bind(mod) as Handler);
  }
}
