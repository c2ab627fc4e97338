import { randomBytes } from 'k6/crypto';
import encoding from 'k6/encoding';
import http, { type Params } from 'k6/http';
import { firstPage, stop } from './stack.ts';

/** What one person's browser keeps: the cookie of the session and the token of its form. */
export interface Session {
  cookie: string;
  token: string;
}

/** Opens the list once, as a browser does. For `setup`. */
export function openSession(url: string): Session {
  const page = firstPage(url);
  const token = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1];
  const cookie = page.cookies.session?.[0]?.value;
  if (!token || !cookie) return stop(`${url}/ answers, but not with the form of the task list.`);
  return { cookie: `session=${cookie}`, token };
}

/** Sends the form that adds a task. The answer is a 302 that is not followed. */
export function addTask(url: string, session: Session, title: string, params: Params = {}) {
  return http.post(
    `${url}/task`,
    { _csrf: session.token, title },
    {
      redirects: 0,
      tags: { name: 'POST /task' },
      ...params,
      jar: new http.CookieJar(),
      headers: { Cookie: session.cookie },
    },
  );
}

/** A beginning of titles that no other run has, so that this run's tasks can be told from everyone else's. */
export const runMark = () => `load ${encoding.b64encode(randomBytes(6), 'rawurl')}`;

interface Listed {
  tasks: { _id: string; title: string }[];
  /** The path of the next page. */
  next?: string;
}

const asJson = { Accept: 'application/json' };
/** Titles of one request: well within the 64 KiB that the proxy lets through. */
const titlesAtOnce = 1_000;
/** Deletions that are under way at once. */
const together = 20;

/** Adds `count` tasks whose titles begin with `mark`. */
export function fill(url: string, mark: string, count: number): void {
  for (let done = 0; done < count; done += titlesAtOnce) {
    const titles = Array.from(
      { length: Math.min(titlesAtOnce, count - done) },
      (_, i) => `${mark} ${done + i}\n`,
    );
    const response = http.post(`${url}/tasks/import`, titles.join(''), {
      headers: {
        ...asJson,
        'Content-Type': 'text/plain; charset=UTF-8',
        'Sec-Fetch-Site': 'same-origin',
      },
      tags: { name: 'setup' },
    });
    if (response.status !== 200)
      stop(`POST ${url}/tasks/import answers ${response.status}: ${response.body}`);
  }
}

/** Every task whose title begins with `mark`, wherever in the list it is. */
export function* listed(url: string, mark: string): Generator<Listed['tasks'][number]> {
  let path: string | undefined = '/tasks';
  while (path !== undefined) {
    const response: http.Response = http.get(url + path, { headers: asJson, tags: { name: 'list' } });
    if (!String(response.headers['Content-Type']).startsWith('application/json')) {
      console.error(`GET ${url}${path} answers ${response.status}, and not with JSON.`);
      return;
    }
    const page = response.json() as unknown as Listed;
    yield* page.tasks.filter(({ title }) => title.startsWith(mark));
    path = page.next;
  }
}

/** Removes this run's tasks, so that the list is as it was before. For `teardown`. */
export function clear(url: string, mark: string): void {
  const tasks = [...listed(url, mark)];
  for (let done = 0; done < tasks.length; done += together) {
    http.batch(
      tasks.slice(done, done + together).map(({ _id }) => ({
        method: 'DELETE',
        url: `${url}/tasks/${_id}`,
        params: { headers: { ...asJson, 'If-Match': '*' }, tags: { name: 'teardown' } },
      })),
    );
  }
}
