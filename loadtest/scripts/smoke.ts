/** Requests every route once per iteration. */
import { check, sleep } from 'k6';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { baseOptions } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { indexPage, linkStatus, requirePage, shortener, stack } from './modules/stack.ts';
import { addTask, openTaskList, type Session } from './modules/task-list.ts';

const { users, iterations } = settings('smoke');

export const options: Options = {
  ...baseOptions,
  scenarios: { smoke: { executor: 'per-vu-iterations', vus: users, iterations, maxDuration: '2m' } },
  thresholds: { checks: ['rate==1'], http_req_failed: ['rate==0'] },
};

export function setup() {
  if (indexPage) requirePage(indexPage);
  else console.warn('PROXY_URL is not set, so the front page is not checked.');
  requirePage(stack.expander);
  const follows = linkStatus(403) === 200;
  if (!follows) console.warn('The expander refuses the local shortener, so this run expects refusals.');
  return { ...openTaskList(`${2 * users * iterations} tasks`), follows };
}

export default function everyRoute({ session, titlePrefix, follows }: ReturnType<typeof setup>) {
  checkExpander(follows);
  checkTasks(session, `${titlePrefix} ${__VU}-${__ITER}`);
  // k6 writes no HTML report for shorter runs.
  sleep(0.2);
}

/** Sends a request. Checks the status, and that the body contains `includes`. By default, the check is named after the path. */
function request(
  method: string,
  url: string,
  status: number,
  details: { name?: string; includes?: string; headers?: Record<string, string>; body?: string } = {},
) {
  const { name = url.replace(/^https?:..[^/]*/, ''), includes = '', headers = {}, body = null } = details;
  const params = { headers, tags: { name }, responseCallback: http.expectedStatuses(status) };
  const response = http.request(method, url, body, params);
  check(response, {
    [`${method} ${name} is ${status}`]: (r) => r.status === status && String(r.body).includes(includes),
  });
  return response;
}

function checkExpander(follows: boolean): void {
  const [link, longUrl] = [`${shortener}/chain/2`, `${shortener}/chain/0`];
  const u = `u=${encodeURIComponent(link)}`;
  const status = follows ? 200 : 403;
  const routes: [path: string, status: number, includes?: string][] = [
    ['/', 200, 'Shorten URL Expand'],
    ['/api', 200, '`u` argument required.'],
    ['/nothing-here', 404, 'Page Not Found!'],
    ['/api?u=ftp%3A%2F%2Fexample.com', 400],
    [`/?${u}`, status, follows ? longUrl : ''],
    [`/api?${u}`, status, follows ? longUrl : ''],
    [`/api?cb=f&${u}`, status, follows ? `f("${longUrl}")` : ''],
    [`/api/chain?${u}`, status, follows ? '"redirectCount":2' : 'target_refused'],
  ];
  for (const [path, status, includes = ''] of routes) {
    const response = request('GET', stack.expander + path, status, { includes });
    check(response, { 'X-Power-By is set': (r) => r.headers['X-Power-By'] === 'Longhand' });
  }
  const list = { headers: { 'Content-Type': 'text/plain' }, body: `${link}\n`, includes: link };
  request('POST', `${stack.expander}/api/expand`, 200, list);
}

const json = { Accept: 'application/json', 'If-Match': '*', 'Content-Type': 'application/json' };

/** Checks the form that adds a task, and the API. */
function checkTasks(session: Session, title: string): void {
  const added = addTask(session, title);
  check(added, { 'POST /task is 302 to /': (r) => r.status === 302 && r.headers.Location === '/' });
  const page = request('GET', `${stack.tasks}/`, 200, { includes: title });
  const style = /\/public\/[^"]+\.css/.exec(String(page.body))?.[0];
  request('GET', `${stack.tasks}${style}`, 200, { name: '/public' });
  if (indexPage) request('GET', `${indexPage}/`, 200, { name: 'another host name', includes: 'Longhand' });

  const tasks = `${stack.tasks}/tasks`;
  request('GET', tasks, 200, { headers: json });
  request('GET', `${stack.tasks}/openapi.json`, 200);
  const created = request('POST', tasks, 201, { headers: json, body: JSON.stringify({ title }) });
  const id = `${created.json('_id')}`;
  const [task, name] = [`${tasks}/${id}`, '/tasks/:id'];
  for (const [action, finished] of Object.entries({ finish: 1, unfinish: 0 })) {
    request('GET', `${stack.tasks}/task/${id}/${action}`, 302, { name: `/task/:id/${action}` });
    request('GET', task, 200, { name, headers: json, includes: `"finished":${finished}` });
  }
  for (const path of ['new', ':id', ':id/edit', 'partial', 'import', 'export'])
    request('GET', `${tasks}/${path.replace(':id', id)}`, 200, { name: `/tasks/${path}` });
  request('PUT', task, 200, { name, headers: json, body: JSON.stringify({ finished: 1 }) });
  request('DELETE', task, 200, { name, headers: json });
  request('GET', task, 404, { name, headers: json });
}

export { teardown } from './modules/task-list.ts';
