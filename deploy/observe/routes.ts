/** The routes of each application: the first pattern that matches a path, and its name. */
const routes: Record<string, [pattern: RegExp, route: string][]> = {
  expander: [[/^(\/|\/api|\/api\/chain|\/api\/expand)$/, '$1']],
  tasks: [
    [/^(\/|\/task|\/openapi\.json)$/, '$1'],
    [/^(\/tasks(?:\/(?:new|partial|events|export|import|finished|restore))?)$/, '$1'],
    [/^\/public\/.+$/, '/public/*'],
    [/^\/task\/[^/]+\/(finish|unfinish)$/, '/task/:id/$1'],
    [/^\/tasks\/[^/]+(\/edit)?$/, '/tasks/:id$1'],
  ],
};

/** The route of a path as a label: one of a few, or none. */
export function routeOf(application: string, path: string): string | undefined {
  const known = Object.hasOwn(routes, application) ? (routes[application] ?? []) : [];
  const [pattern, route = ''] = known.find(([candidate]) => candidate.test(path)) ?? [];
  return pattern && path.replace(pattern, route);
}
