/** Requests every route of the stack once per iteration. */
import { check, sleep } from 'k6';
import http, { type Params } from 'k6/http';
import type { Options } from 'k6/options';
import { baseOptions } from './modules/options.ts';
import { allowedShare } from './modules/rate-limit.ts';
import { settings } from './modules/settings.ts';
import { apiUrl, indexPage, requirePage, shortener, stack } from './modules/stack.ts';
import { addTask, findTasks, openTaskList, type Session } from './modules/task-list.ts';

const { users, iterations } = settings('smoke');

/** Links a second, about: what the host may limit. */
const rate = 30 * users;

export const options: Options = {
  ...baseOptions,
  scenarios: { smoke: { executor: 'per-vu-iterations', vus: users, iterations, maxDuration: '2m' } },
  thresholds: { checks: ['rate==1'], http_req_failed: ['rate==0'] },
};

export function setup() {
  if (indexPage) requirePage(indexPage);
  else console.warn('PROXY_URL is not set: the index page is not checked.');
  requirePage(stack.expander);
  // By default the expander refuses links to its own machine.
  const follows = http.get(apiUrl('/chain/2'), expectStatus(200, 403)).status === 200;
  if (!follows) console.warn('The expander refuses the local shortener: checking for the refusal.');
  const { session, titlePrefix } = openTaskList(`${2 * users * iterations} tasks`);
  const share = allowedShare(apiUrl('/chain/2'), rate);
  return { session, titlePrefix, follows, wait: share < 1 ? users / (share * rate) : 0 };
}

export default function everyRoute({ session, titlePrefix, follows, wait }: ReturnType<typeof setup>) {
  checkExpander(follows, wait);
  const title = `${titlePrefix} ${__VU}-${__ITER}`;
  checkTaskPages(session, title);
  checkTaskResource(title);
  // k6 writes its HTML report only if a run lasts some seconds.
  sleep(0.2);
}

/** @param wait seconds before each request. */
function checkExpander(follows: boolean, wait: number): void {
  const poweredBy = { 'X-Power-By is set': (r: http.Response) => r.headers['X-Power-By'] === 'Longhand' };
  const get = (path: string, status: number, body: string) => {
    sleep(wait);
    check(http.get(stack.expander + path, expectStatus(status)), {
      [`GET ${path} is ${status}`]: (r) => r.status === status && String(r.body).includes(body),
      ...poweredBy,
    });
  };
  get('/', 200, 'Shorten URL Expand');
  get('/api', 200, '`u` argument required.');
  get('/nothing-here', 404, 'Page Not Found!');
  get('/api?u=ftp%3A%2F%2Fexample.com', 400, '');
  checkStatus('POST /api', 405, http.post(`${stack.expander}/api`, '', expectStatus(405)));

  const status = follows ? 200 : 403;
  const longUrl = `${shortener}/chain/0`;
  const link = (path: string) => `${path}u=${encodeURIComponent(`${shortener}/chain/2`)}`;
  get(link('/?'), status, follows ? longUrl : '');
  get(link('/api?'), status, follows ? longUrl : '');
  get(link('/api?cb=f&'), status, follows ? `f("${longUrl}")` : '');
  get(link('/api/chain?'), status, follows ? '"redirectCount":2' : 'target_refused');
  const urls = `${shortener}/chain/1\n${shortener}/chain/2\n`;
  sleep(wait);
  const bulk = http.post(`${stack.expander}/api/expand`, urls, { headers: { 'Content-Type': 'text/plain' } });
  check(bulk, {
    'POST /api/expand answers each line': (r) => String(r.body).trim().split('\n').length === 2,
    ...poweredBy,
  });
}

function checkTaskPages(session: Session, title: string): void {
  const page = http.get(`${stack.tasks}/`);
  check(page, { 'GET / of tasks is the list': (r) => r.status === 200 && String(r.body).includes('_csrf') });
  const style = /\/public\/[^"]+\.css/.exec(String(page.body))?.[0];
  checkStatus('GET /public', 200, http.get(`${stack.tasks}${style}`));
  if (indexPage)
    check(http.get(indexPage), {
      'another host name is the index': (r) => String(r.body).includes('expander'),
    });

  const redirectsToList = (name: string, response: http.Response) =>
    check(response, { [`${name} is 302 to /`]: (r) => r.status === 302 && r.headers.Location === '/' });
  redirectsToList('POST /task', addTask(session, title));
  const task = findTasks(title).next().value;
  check(task, { 'the task is listed': (found) => found !== undefined });
  if (!task) return;

  for (const [action, finished] of [
    ['finish', 1],
    ['unfinish', 0],
  ] as const) {
    const params = { redirects: 0, tags: { name: action } };
    const name = `GET /task/:id/${action}`;
    redirectsToList(name, http.get(`${stack.tasks}/task/${task._id}/${action}`, params));
    const state = http.get(`${stack.tasks}/tasks/${task._id}`, json).json('finished');
    check(state, { [`${name} changes the task`]: (value) => value === finished });
  }
  for (const path of ['new', task._id, `${task._id}/edit`, 'partial', 'import', 'export']) {
    const name = path.replace(task._id, ':id');
    checkStatus(`GET /tasks/${name}`, 200, http.get(`${stack.tasks}/tasks/${path}`, { tags: { name } }));
  }
}

/** The resource convention in JSON: one task from creation to deletion. */
function checkTaskResource(title: string): void {
  const tasks = `${stack.tasks}/tasks`;
  checkStatus('GET /tasks', 200, http.get(tasks, json));
  checkStatus('GET /openapi.json', 200, http.get(`${stack.tasks}/openapi.json`));
  const created = http.post(tasks, JSON.stringify({ title }), jsonWrite);
  checkStatus('POST /tasks', 201, created);
  const task = `${tasks}/${created.json('_id')}`;
  checkStatus('PUT /tasks/:id', 200, http.put(task, JSON.stringify({ finished: 1 }), jsonWrite));
  checkStatus('DELETE /tasks/:id', 200, http.del(task, null, jsonDelete));
  checkStatus('GET /tasks/:id', 404, http.get(task, { ...json, ...expectStatus(404) }));
}

const checkStatus = (name: string, status: number, response: http.Response) =>
  check(response, { [`${name} is ${status}`]: (r) => r.status === status });

const json: Params = { headers: { Accept: 'application/json' }, tags: { name: 'show' } };
const jsonDelete: Params = {
  headers: { Accept: 'application/json', 'If-Match': '*' },
  tags: { name: 'JSON' },
};
const jsonWrite: Params = {
  ...jsonDelete,
  headers: { ...jsonDelete.headers, 'Content-Type': 'application/json' },
};
const expectStatus = (...statuses: number[]): Params => ({
  responseCallback: http.expectedStatuses(...statuses),
});

export { teardown } from './modules/task-list.ts';
