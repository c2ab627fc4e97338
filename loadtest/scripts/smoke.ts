/** Every route of the stack once an iteration, by two people at a time. */
import { check, sleep } from 'k6';
import http, { type Params } from 'k6/http';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { api, firstPage, profile, shortener, stack } from './parts/stack.ts';
import { addTask, clear, listed, openSession, runMark } from './parts/task-list.ts';

const { users, iterations } = profile.smoke;

export const options: Options = {
  scenarios: { smoke: { executor: 'per-vu-iterations', vus: users, iterations, maxDuration: '2m' } },
  thresholds: { checks: ['rate==1'], http_req_failed: ['rate==0'] },
  summaryTrendStats,
};

export function setup() {
  firstPage(stack.proxy);
  firstPage(stack.expander);
  const mark = runMark();
  // The stack as it comes refuses links into the machine it runs on, as it should.
  const follows = http.get(api('/chain/2'), expecting(200, 403)).status === 200;
  if (!follows) console.warn('The expander refuses the local shortener: its refusal is what is checked.');
  return { session: openSession(stack.tasks), mark, follows };
}

export default function everyRoute({ session, mark, follows }: ReturnType<typeof setup>) {
  theExpander(follows);
  theTasks(session, `${mark} ${__VU}-${__ITER}`);
  // k6 writes its HTML report only of runs that take some seconds.
  sleep(0.2);
}

function theExpander(follows: boolean): void {
  const headers = {
    'every answer has its headers': (r: http.Response) => r.headers['X-Power-By'] === 'Longhand',
  };
  const get = (path: string, status: number, body: string) =>
    check(http.get(stack.expander + path, expecting(status)), {
      [`GET ${path} is ${status}`]: (r) => r.status === status && String(r.body).includes(body),
      ...headers,
    });
  get('/', 200, 'Shorten URL Expand');
  get('/api', 200, '`u` argument required.');
  get('/nothing-here', 404, 'Page Not Found!');
  get('/api?u=ftp%3A%2F%2Fexample.com', 400, '');
  check(http.post(`${stack.expander}/api`, '', expecting(405)), {
    'POST /api is 405': (r) => r.status === 405,
  });

  const status = follows ? 200 : 403;
  const longUrl = `${shortener}/chain/0`;
  const link = (path: string) => `${path}u=${encodeURIComponent(`${shortener}/chain/2`)}`;
  get(link('/?'), status, follows ? longUrl : '');
  get(link('/api?'), status, follows ? longUrl : '');
  get(link('/api?cb=f&'), status, follows ? `f("${longUrl}")` : '');
  get(link('/api/chain?'), status, follows ? '"redirectCount":2' : 'target_refused');
  const many = http.post(`${stack.expander}/api/expand`, `${shortener}/chain/1\n${shortener}/chain/2\n`, {
    headers: { 'Content-Type': 'text/plain' },
  });
  check(many, {
    'POST /api/expand answers each line': (r) => String(r.body).trim().split('\n').length === 2,
    ...headers,
  });
}

function theTasks(session: ReturnType<typeof openSession>, title: string): void {
  const page = http.get(`${stack.tasks}/`);
  check(page, { 'GET / of tasks is the list': (r) => r.status === 200 && String(r.body).includes('_csrf') });
  const style = /\/public\/[^"]+\.css/.exec(String(page.body))?.[0];
  check(http.get(`${stack.tasks}${style}`), { 'GET /public is a file': (r) => r.status === 200 });
  check(http.get(stack.proxy), { 'another host is the index': (r) => String(r.body).includes('expander') });

  const added = addTask(stack.tasks, session, title);
  check(added, { 'POST /task is 302 to /': (r) => r.status === 302 && r.headers.Location === '/' });
  const task = listed(stack.tasks, title).next().value;
  check(task, { 'the task is listed': (found) => found !== undefined });
  if (!task) return;

  const state = () => http.get(`${stack.tasks}/tasks/${task._id}`, json).json('finished');
  for (const [action, finished] of [
    ['finish', 1],
    ['unfinish', 0],
  ] as const) {
    const turned = http.get(`${stack.tasks}/task/${task._id}/${action}`, {
      redirects: 0,
      tags: { name: action },
    });
    check(turned, {
      [`GET /task/:id/${action} is 302 to /`]: (r) => r.status === 302 && r.headers.Location === '/',
    });
    check(state(), { [`GET /task/:id/${action} changes the task`]: (value) => value === finished });
  }
  for (const path of ['new', task._id, `${task._id}/edit`, 'partial', 'import', 'export']) {
    const name = path.replace(task._id, ':id');
    const shown = http.get(`${stack.tasks}/tasks/${path}`, { tags: { name } });
    check(shown, { [`GET /tasks/${name} is 200`]: (r) => r.status === 200 });
  }
  theTasksAsJson(title);
}

/** The resource convention for programs: one task from its creation to its end. */
function theTasksAsJson(title: string): void {
  const at = (path: string) => `${stack.tasks}/tasks${path}`;
  const is = (status: number) => ({
    check: (name: string, response: http.Response) =>
      check(response, { [`${name} is ${status}`]: (r) => r.status === status }),
  });
  is(200).check('GET /tasks', http.get(at(''), json));
  is(200).check('GET /openapi.json', http.get(`${stack.tasks}/openapi.json`));
  const created = http.post(at(''), JSON.stringify({ title }), written);
  is(201).check('POST /tasks', created);
  const one = `/${created.json('_id')}`;
  is(200).check('PUT /tasks/:id', http.put(at(one), JSON.stringify({ finished: 1 }), written));
  is(200).check('DELETE /tasks/:id', http.del(at(one), null, removed));
  is(404).check('GET /tasks/:id', http.get(at(one), { ...json, ...expecting(404) }));
}

export function teardown({ mark }: ReturnType<typeof setup>) {
  clear(stack.tasks, mark);
}

const json: Params = { headers: { Accept: 'application/json' }, tags: { name: 'show' } };
const written: Params = {
  headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'If-Match': '*' },
  tags: { name: 'JSON' },
};
const removed: Params = {
  headers: { Accept: 'application/json', 'If-Match': '*' },
  tags: { name: 'JSON' },
};
const expecting = (...statuses: number[]): Params => ({
  responseCallback: http.expectedStatuses(...statuses),
});

export const handleSummary = report('smoke');
