import { randomBytes } from 'k6/crypto';
import encoding from 'k6/encoding';
import http from 'k6/http';
import { abort, announce, requirePage, stack } from './stack.ts';

/** A session cookie and its form token. */
export interface Session {
  url: string;
  cookie: string;
  token: string;
}

/** Opens the list and returns its session. Call this in `setup`. */
export function openSession(url: string): Session {
  const page = requirePage(url);
  const token = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1];
  // Over TLS, the cookie name starts with __Host-. It ends with an ID of the store.
  const name = Object.keys(page.cookies).find((name) => /^(__Host-)?session-/.test(name));
  if (!token || !name) return abort(`${url}/ is not the task list, because it has no form.`);
  return { url, cookie: `${name}=${page.cookies[name]?.[0]?.value}`, token };
}

/** Submits the form that adds a task, without following the redirect. */
export function addTask({ url, cookie, token }: Session, title: string, tags = {}) {
  const params = {
    jar: new http.CookieJar(),
    headers: { Cookie: cookie },
    tags: { name: 'POST /task', ...tags, target: 'stack' },
  };
  return http.post(`${url}/task`, { _csrf: token, title }, params);
}

/** Opens the list, announces the new tasks, and chooses their title prefix. Call this in `setup`. */
export function openTaskList(added: string) {
  const titlePrefix = `load ${encoding.b64encode(randomBytes(6), 'rawurl')}`;
  announce(`It adds ${added}. Their titles start with "${titlePrefix}". It removes them at the end.`);
  return { session: openSession(stack.tasks), titlePrefix };
}

const asJson = { Accept: 'application/json' };

/** Adds `count` tasks with the title prefix `prefix`. */
export function importTasks(prefix: string, count: number): void {
  const url = `${stack.tasks}/tasks/import`;
  const tasks = Array.from({ length: count }, (_, i) => ({ title: `${prefix} ${i}` }));
  const headers = { ...asJson, 'Content-Type': 'application/json' };
  const params = { headers, responseType: 'text' as const, tags: { name: 'setup' } };
  const response = http.post(url, JSON.stringify(tasks), params);
  if (response.status !== 200) abort(`POST ${url}: status ${response.status}, ${response.body}`);
}

/** Removes the tasks that this run added. */
export function teardown({ titlePrefix }: { titlePrefix: string }): void {
  const params = { headers: { ...asJson, 'If-Match': '*' }, tags: { name: 'teardown' } };
  const url = `${stack.tasks}/tasks/export?format=json`;
  const exported = http.get(url, { ...params, responseType: 'text' });
  if (exported.status !== 200)
    throw new Error(`GET ${url}: status ${exported.status}. Could not remove the tasks of this run.`);
  const tasks = exported.json() as unknown as { _id: string; title: string }[];
  const added = tasks.filter(({ title }) => title.startsWith(titlePrefix));
  const urls = added.map(({ _id }) => `${stack.tasks}/tasks/${_id}`);
  // k6 keeps all responses of a batch in memory.
  for (let i = 0; i < urls.length; i += 1_000)
    http.batch(urls.slice(i, i + 1_000).map((url) => ({ method: 'DELETE', url, params })));
}
