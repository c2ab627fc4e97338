/** Many people read a long list while a few write to it. */
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { profile, stack } from './parts/stack.ts';
import { addTask, clear, fill, openSession, runMark } from './parts/task-list.ts';

const { reads, writes, seconds, listed } = profile.tasks;

const steady = { executor: 'constant-arrival-rate', timeUnit: '1s', duration: `${seconds}s` } as const;

export const options: Options = {
  scenarios: {
    reads: { ...steady, exec: 'read', rate: reads, preAllocatedVUs: 50 },
    writes: { ...steady, exec: 'write', rate: writes, preAllocatedVUs: 20 },
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
  const mark = runMark();
  fill(stack.tasks, mark, listed);
  return { session, mark };
}

/** Mostly the first page; now and then one of the filters. */
export function read() {
  const query = ['', '', '', '?filter=open', '?filter=finished'][exec.scenario.iterationInTest % 5];
  const response = http.get(`${stack.tasks}/${query}`, { tags: { name: 'GET /' } });
  check(response, { 'the list comes': (r) => r.status === 200 && String(r.body).includes('_csrf') });
}

export function write({ session, mark }: ReturnType<typeof setup>) {
  const response = addTask(stack.tasks, session, `${mark} written ${exec.scenario.iterationInTest}`);
  check(response, { 'the task is added': (r) => r.status === 302 });
}

export function teardown({ mark }: ReturnType<typeof setup>) {
  clear(stack.tasks, mark);
}

export const handleSummary = report('tasks');
