import { randomBytes } from 'k6/crypto';
import encoding from 'k6/encoding';
import http, { type Params } from 'k6/http';
import { post } from './requests.ts';
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

/** Submits the form that adds a task; its redirect is not followed. */
export function addTask({ url, cookie, token }: Session, title: string, params: Params = {}) {
  return post(
    `${url}/task`,
    { _csrf: token, title },
    {
      redirects: 0,
      tags: { name: 'POST /task' },
      ...params,
      jar: new http.CookieJar(),
      headers: { Cookie: cookie },
    },
  );
}

/**
 * A prefix for the titles of this run, to tell its tasks from everyone else's. Says which tasks it adds, if it adds them
 * on another machine than this one. For `setup`.
 */
export function announceTasks(added: string): string {
  const titlePrefix = `load ${encoding.b64encode(randomBytes(6), 'rawurl')}`;
  announce(`It adds ${added}. Their titles begin with "${titlePrefix}"; it removes them at its end.`);
  return titlePrefix;
}

/** The same, and a session with the list. */
export function openTaskList(added: string) {
  const titlePrefix = announceTasks(added);
  return { session: openSession(stack.tasks), titlePrefix };
}

interface ListPage {
  tasks: { _id: string; title: string }[];
  /** The path of the next page. */
  next?: string;
}

const asJson = { Accept: 'application/json' };
/** Titles per import: well within the 64 KiB that the proxy accepts. */
const importSize = 1_000;
/** Deletions in flight. */
const batchSize = 20;

/** Adds `count` tasks whose titles begin with `prefix`. */
export function importTasks(prefix: string, count: number): void {
  for (let start = 0; start < count; start += importSize) {
    const length = Math.min(importSize, count - start);
    const titles = Array.from({ length }, (_, i) => `${prefix} ${start + i}\n`);
    const response = http.post(`${stack.tasks}/tasks/import`, titles.join(''), {
      headers: {
        ...asJson,
        'Content-Type': 'text/plain; charset=UTF-8',
        'Sec-Fetch-Site': 'same-origin',
      },
      tags: { name: 'setup' },
    });
    if (response.status !== 200) {
      abort(`POST ${stack.tasks}/tasks/import answers ${response.status}: ${response.body}`);
    }
  }
}

/** Finds the tasks whose titles begin with `prefix`, on all pages of the list. */
export function* findTasks(prefix: string): Generator<ListPage['tasks'][number]> {
  let path: string | undefined = '/tasks';
  while (path !== undefined) {
    const response: http.Response = http.get(stack.tasks + path, {
      headers: asJson,
      responseType: 'text',
      tags: { name: 'list' },
    });
    if (!String(response.headers['Content-Type']).startsWith('application/json')) {
      console.error(`GET ${stack.tasks}${path} answers ${response.status}, and not with JSON.`);
      return;
    }
    const page = response.json() as unknown as ListPage;
    yield* page.tasks.filter(({ title }) => title.startsWith(prefix));
    path = page.next;
  }
}

/** The `teardown` of all scripts: removes the tasks of this run. */
export function teardown({ titlePrefix }: { titlePrefix: string }): void {
  const tasks = [...findTasks(titlePrefix)];
  for (let start = 0; start < tasks.length; start += batchSize) {
    http.batch(
      tasks.slice(start, start + batchSize).map(({ _id }) => ({
        method: 'DELETE',
        url: `${stack.tasks}/tasks/${_id}`,
        params: { headers: { ...asJson, 'If-Match': '*' }, tags: { name: 'teardown' } },
      })),
    );
  }
}
