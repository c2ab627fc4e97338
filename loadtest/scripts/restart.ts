/** Writes at a constant rate while the replicas of the service are replaced one by one: none may be lost. */
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';
import { askControl, baseOptions, constantRate, controlThresholds } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { addTask, findTasks, openTaskList, teardown as removeTasks } from './modules/task-list.ts';

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
};

export function setup() {
  return openTaskList(`${rate} tasks a second for ${duration} s`);
}

export default function write({ session, titlePrefix }: ReturnType<typeof setup>) {
  const response = addTask(session, `${titlePrefix} ${exec.scenario.iterationInTest}`);
  const added = check(response, { 'the task is added': (r) => r.status === 302 });
  if (!added) console.error(`${response.status} ${response.error} ${String(response.body).slice(0, 200)}`);
  askControl();
}

/** The writes are numbered from 0 without a gap, because none failed and none was dropped; k6 may send one less. */
export function teardown({ titlePrefix }: ReturnType<typeof setup>) {
  const found = new Map<number, number>();
  for (const { title } of findTasks(titlePrefix)) {
    const number = Number(title.slice(titlePrefix.length));
    found.set(number, (found.get(number) ?? 0) + 1);
  }
  const sent = Math.max(rate * duration - 1, ...[...found.keys()].map((number) => number + 1));
  lost.add(sent - found.size);
  duplicated.add([...found.values()].filter((times) => times > 1).length);
  removeTasks({ titlePrefix });
}
