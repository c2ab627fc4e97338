/** Many clients read a long list while a few clients write to it. */
import { check } from 'k6';
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { baseOptions, constantRate, controlThresholds, get, requestControl } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { stack } from './modules/stack.ts';
import { addTask, importTasks, openTaskList } from './modules/task-list.ts';

const { readRate, writeRate, duration, users, listed, readP95, writeP95, failed, dropped } =
  settings('tasks');

export const options: Options = {
  ...baseOptions,
  scenarios: {
    reads: { ...constantRate(readRate, duration, users), exec: 'read' },
    writes: { ...constantRate(writeRate, duration, users), exec: 'write' },
  },
  thresholds: {
    'http_req_duration{scenario:reads,target:stack}': [`p(95)<${readP95}`],
    'http_req_duration{scenario:writes,target:stack}': [`p(95)<${writeP95}`],
    checks: [`rate>${1 - failed}`],
    dropped_iterations: [`count<=${dropped}`],
    ...controlThresholds([`p(95)<${readP95 / 2}`]),
  },
};

export function setup() {
  const opened = openTaskList(`${listed} tasks, then ${writeRate} per second for ${duration} s`);
  importTasks(opened.titlePrefix, listed);
  return opened;
}

/** Requests the first page, sometimes with a filter. */
export function read() {
  const query = ['', '', '', '?filter=open', '?filter=finished'][exec.scenario.iterationInTest % 5];
  const response = get(`${stack.tasks}/${query}`, { name: 'GET /' });
  check(response, { 'the list is shown': (r) => r.status === 200 && String(r.body).includes('_csrf') });
  requestControl();
}

export function write({ session, titlePrefix }: ReturnType<typeof setup>) {
  const response = addTask(session, `${titlePrefix} written ${exec.scenario.iterationInTest}`);
  check(response, { 'the task is added': (r) => r.status === 302 });
  requestControl();
}

export { teardown } from './modules/task-list.ts';
