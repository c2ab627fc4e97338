/** Many clients read a long list while a few write to it. */
import { check } from 'k6';
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import {
  baseOptions,
  constantRate,
  controlThresholds,
  get,
  latencyThresholds,
  requestControl,
} from './modules/requests.ts';
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
    ...latencyThresholds('scenario:reads', [`p(95)<${readP95}`]),
    ...latencyThresholds('scenario:writes', [`p(95)<${writeP95}`]),
    'http_req_failed{scenario:reads,target:stack}': [`rate<${failed}`],
    'http_req_failed{scenario:writes,target:stack}': [`rate<${failed}`],
    dropped_iterations: [`count<=${dropped}`],
    checks: ['rate>0.999'],
    ...controlThresholds([`p(95)<${readP95 / 2}`]),
  },
};

export function setup() {
  const opened = openTaskList(`${listed} tasks, then ${writeRate} a second for ${duration} s`);
  importTasks(opened.titlePrefix, listed);
  return opened;
}

type Data = ReturnType<typeof setup>;

/** Both, in the proportion of the scenarios: for `k6 run --vus … --duration …`, which replaces them. */
export default function readAndWrite(data: Data) {
  if (exec.scenario.iterationInTest % Math.round(1 + readRate / writeRate) === 0) write(data);
  else read();
}

/** Mostly the first page, sometimes with a filter. */
export function read() {
  const query = ['', '', '', '?filter=open', '?filter=finished'][exec.scenario.iterationInTest % 5];
  const response = get(`${stack.tasks}/${query}`, { name: 'GET /' });
  check(response, { 'the list is shown': (r) => r.status === 200 && String(r.body).includes('_csrf') });
  requestControl();
}

export function write({ session, titlePrefix }: Data) {
  const response = addTask(session, `${titlePrefix} written ${exec.scenario.iterationInTest}`);
  check(response, { 'the task is added': (r) => r.status === 302 });
  requestControl();
}

export { teardown } from './modules/task-list.ts';
