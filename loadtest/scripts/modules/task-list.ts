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

/** Opens the list once, as a browser does. For `setup`. */
export function openSession(url: string): Session {
  const page = requirePage(url);
  const token = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1];
  // Over TLS its name begins with __Host-.
  const name = ['session', '__Host-session'].find((name) => page.cookies[name]);
  if (!token || !name) return abort(`${url}/ answers, but not with the form of the task list.`);
  return { url, cookie: `${name}=${page.cookies[name]?.[0]?.value}`, token };
}

/** Submits the form that adds a task, without following its redirect. */
export function addTask({ url, cookie, token }: Session, title: string, tags = {}) {
  const params = {
    jar: new http.CookieJar(),
    headers: { Cookie: cookie },
    tags: { name: 'POST /task', ...tags, target: 'stack' },
  };
  return http.post(`${url}/task`, { _csrf: token, title }, params);
}

/** Opens the list, and makes a prefix for the titles of this run. Announces the tasks that it adds. For `setup`. */
export function openTaskList(added: string) {
  const titlePrefix = `load ${encoding.b64encode(randomBytes(6), 'rawurl')}`;
  announce(`It adds ${added}. Their titles begin with "${titlePrefix}"; it removes them at its end.`);
  return { session: openSession(stack.tasks), titlePrefix };
}

interface Listed {
  _id: string;
  title: string;
}

const asJson = { Accept: 'application/json' };

/** Adds `count` tasks whose titles begin with `prefix`. */
export function importTasks(prefix: string, count: number): void {
  const url = `${stack.tasks}/tasks/import`;
  const tasks = Array.from({ length: count }, (_, i) => ({ title: `${prefix} ${i}` }));
  const headers = { ...asJson, 'Content-Type': 'application/json' };
  const response = http.post(url, JSON.stringify(tasks), {
    headers,
    responseType: 'text',
    tags: { name: 'setup' },
  });
  if (response.status !== 200) abort(`POST ${url} answers ${response.status}: ${response.body}`);
}

/** Finds the tasks whose titles begin with `prefix`. */
export function findTasks(prefix: string): Listed[] {
  const url = `${stack.tasks}/tasks/export?format=json`;
  const response = http.get(url, { responseType: 'text', tags: { name: 'list' } });
  if (!String(response.headers['Content-Type']).startsWith('application/json')) {
    console.error(`GET ${url} answers ${response.status} without JSON.`);
    return [];
  }
  return (response.json() as unknown as Listed[]).filter(({ title }) => title.startsWith(prefix));
}

/** The `teardown` of all scripts that add tasks: removes the tasks of this run. */
export function teardown({ titlePrefix }: { titlePrefix: string }): void {
  const params = { headers: { ...asJson, 'If-Match': '*' }, tags: { name: 'teardown' } };
  const found = findTasks(titlePrefix).map(({ _id }) => `${stack.tasks}/tasks/${_id}`);
  // k6 sends a few requests of a batch at a time, and keeps all responses in memory.
  for (let i = 0; i < found.length; i += 1_000)
    http.batch(found.slice(i, i + 1_000).map((url) => ({ method: 'DELETE', url, params })));
}
