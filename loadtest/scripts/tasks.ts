/** Many people read a long list while a few write to it. */
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './modules/report.ts';
import { constantRate } from './modules/scenario.ts';
import { profile, stack } from './modules/stack.ts';
import { addTask, importTasks, newTitlePrefix, openSession } from './modules/task-list.ts';

const { reads, writes, seconds, listed } = profile.tasks;

export const options: Options = {
  scenarios: {
    reads: { ...constantRate(reads, seconds, 50), exec: 'read' },
    writes: { ...constantRate(writes, seconds, 20), exec: 'write' },
  },
  thresholds: {
    'http_req_duration{scenario:reads}': ['p(95)<25'],
    'http_req_duration{scenario:writes}': ['p(95)<40'],
    'http_req_failed{scenario:reads}': ['rate<0.001'],
    'http_req_failed{scenario:writes}': ['rate<0.001'],
    dropped_iterations: ['count==0'],
    checks: ['rate>0.999'],
  },
  summaryTrendStats,
  setupTimeout: '3m',
  teardownTimeout: '5m',
};

export function setup() {
  const session = openSession(stack.tasks);
  const titlePrefix = newTitlePrefix();
  importTasks(stack.tasks, titlePrefix, listed);
  return { session, titlePrefix };
}

/** Mostly the first page, sometimes with a filter. */
export function read() {
  const query = ['', '', '', '?filter=open', '?filter=finished'][exec.scenario.iterationInTest % 5];
  const response = http.get(`${stack.tasks}/${query}`, { tags: { name: 'GET /' } });
  check(response, { 'the list is shown': (r) => r.status === 200 && String(r.body).includes('_csrf') });
}

export function write({ session, titlePrefix }: ReturnType<typeof setup>) {
  const response = addTask(stack.tasks, session, `${titlePrefix} written ${exec.scenario.iterationInTest}`);
  check(response, { 'the task is added': (r) => r.status === 302 });
}

export { teardown } from './modules/task-list.ts';
export const handleSummary = report('tasks');
