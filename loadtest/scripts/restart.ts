/** Writes at a constant rate while the replicas of the service are replaced one by one: none may be lost. */
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';
import { askControl, controlThresholds } from './modules/control.ts';
import { constantRate } from './modules/scenario.ts';
import { settings } from './modules/settings.ts';
import { baseOptions, stack } from './modules/stack.ts';
import {
  addTask,
  announceTasks,
  findTasks,
  openSession,
  teardown as removeTasks,
} from './modules/task-list.ts';

const { rate, duration, users } = settings('restart');

/** Acknowledged writes that cannot be found, and writes that are found twice. */
const lost = new Counter('lost_writes');
const duplicated = new Counter('duplicated_writes');

export const options: Options = {
  ...baseOptions,
  scenarios: { writes: constantRate(rate, duration, users) },
  thresholds: {
    'http_req_failed{scenario:writes,target:stack}': ['rate==0'],
    checks: ['rate==1'],
    dropped_iterations: ['count==0'],
    lost_writes: ['count==0'],
    duplicated_writes: ['count==0'],
    ...controlThresholds(['p(95)<25']),
  },
  teardownTimeout: '5m',
};

export function setup() {
  const titlePrefix = announceTasks(`${rate} tasks a second for ${duration} s`);
  return { session: openSession(stack.tasks), titlePrefix };
}

export default function write({ session, titlePrefix }: ReturnType<typeof setup>) {
  const response = addTask(stack.tasks, session, `${titlePrefix} ${exec.scenario.iterationInTest}`);
  const added = check(response, { 'the task is added': (r) => r.status === 302 });
  if (!added) console.error(`${response.status} ${response.error} ${String(response.body).slice(0, 200)}`);
  askControl();
}

/** The writes are numbered from 0 without a gap, because none failed and none was dropped; k6 may send one less. */
export function teardown({ titlePrefix }: ReturnType<typeof setup>) {
  const found = new Map<number, number>();
  for (const { title } of findTasks(stack.tasks, titlePrefix)) {
    const number = Number(title.slice(titlePrefix.length));
    found.set(number, (found.get(number) ?? 0) + 1);
  }
  const sent = Math.max(rate * duration - 1, ...[...found.keys()].map((number) => number + 1));
  lost.add(sent - found.size);
  duplicated.add([...found.values()].filter((times) => times > 1).length);
  removeTasks({ titlePrefix });
}
