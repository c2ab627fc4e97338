/** Writes at a constant rate while the replicas of the service are replaced one by one: none may be lost. */
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { profile, stack } from './parts/stack.ts';
import { addTask, clear, listed, openSession, runMark } from './parts/task-list.ts';

const { rate, seconds } = profile.restart;

/** Writes that were acknowledged and cannot be found, and such as are there twice. */
const lost = new Counter('lost_writes');
const doubled = new Counter('doubled_writes');

export const options: Options = {
  scenarios: {
    writes: {
      executor: 'constant-arrival-rate',
      rate,
      timeUnit: '1s',
      duration: `${seconds}s`,
      preAllocatedVUs: 100,
    },
  },
  thresholds: {
    'http_req_failed{scenario:writes}': ['rate==0'],
    checks: ['rate==1'],
    dropped_iterations: ['count==0'],
    lost_writes: ['count==0'],
    doubled_writes: ['count==0'],
  },
  summaryTrendStats,
  teardownTimeout: '5m',
};

export function setup() {
  return { session: openSession(stack.tasks), mark: runMark() };
}

export default function write({ session, mark }: ReturnType<typeof setup>) {
  const response = addTask(stack.tasks, session, `${mark} ${exec.scenario.iterationInTest}`);
  const added = check(response, { 'the task is added': (r) => r.status === 302 });
  if (!added) console.error(`${response.status} ${response.error} ${String(response.body).slice(0, 200)}`);
}

/** The writes are numbered from 0 without a gap, because none failed and none was dropped; k6 may send one less. */
export function teardown({ mark }: ReturnType<typeof setup>) {
  const found = new Map<number, number>();
  for (const { title } of listed(stack.tasks, mark)) {
    const number = Number(title.slice(mark.length));
    found.set(number, (found.get(number) ?? 0) + 1);
  }
  const sent = Math.max(rate * seconds - 1, ...[...found.keys()].map((number) => number + 1));
  lost.add(sent - found.size);
  doubled.add([...found.values()].filter((times) => times > 1).length);
  clear(stack.tasks, mark);
}

export const handleSummary = report('restart');
