/** A modest load for a long time: nothing fails, and no process grows. */
import { check, sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Gauge } from 'k6/metrics';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { api, operations, profile, shortenerIsAllowed, stack, stop } from './parts/stack.ts';
import { addTask, clear, openSession, runMark } from './parts/task-list.ts';

const { rate } = profile.soak;
const seconds = Number(__ENV.SOAK_SECONDS || profile.soak.seconds);

/** Percent by which the memory in use at the end is more than it was after the first quarter. */
const growth = new Gauge('memory_growth_percent');

export const options: Options = {
  scenarios: {
    load: {
      executor: 'constant-arrival-rate',
      exec: 'load',
      rate,
      timeUnit: '1s',
      duration: `${seconds}s`,
      preAllocatedVUs: 50,
    },
    // One user, who remembers what was read before.
    memory: { executor: 'constant-vus', exec: 'memory', vus: 1, duration: `${seconds}s` },
  },
  thresholds: {
    'memory_growth_percent{service:expander}': ['value<15'],
    'memory_growth_percent{service:tasks}': ['value<15'],
    http_req_failed: ['rate==0'],
    dropped_iterations: ['count==0'],
    checks: ['rate==1'],
  },
  summaryTrendStats,
  teardownTimeout: '10m',
};

export function setup() {
  shortenerIsAllowed();
  if (!operations.expander || !operations.tasks) {
    stop(
      'The soak reads memory from /metrics: set EXPANDER_OPS_URL and TASKS_OPS_URL to where the services ' +
        'answer it, or stop the stack, and "make load SCRIPT=soak" starts its own.',
    );
  }
  return { session: openSession(stack.tasks), mark: runMark() };
}

/** Reads, expansions old and new; every tenth is a write, and what was written is finished. */
export function load({ session, mark }: ReturnType<typeof setup>) {
  const i = exec.scenario.iterationInTest;
  const kinds = [
    () => http.get(`${stack.tasks}/`),
    () => http.get(api(`/chain/2?id=${i % 50}`), { tags: { name: 'hit' } }),
    () => http.get(api(`/chain/3?id=${mark.replace(' ', '-')}-${i}`), { tags: { name: 'miss' } }),
    () => http.get(`${stack.expander}/`),
  ];
  const kind = kinds[i % kinds.length];
  const response = i % 10 === 0 || !kind ? addTask(stack.tasks, session, `${mark} ${i}`) : kind();
  check(response, { 'the answer is right': (r) => r.status === 200 || r.status === 302 });
}

const read: Record<string, number[]> = {};

/** Compares the floor of the heap, which collections come back to, at the end with the first quarter's. */
export function memory() {
  for (const [service, url] of Object.entries(operations)) {
    const text = String(http.get(`${url}/metrics`, { tags: { name: 'metrics' } }).body);
    const used = Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]);
    const values = [...(read[service] ?? []), used];
    read[service] = values;
    const quarter = Math.ceil(values.length / 4);
    const floor = (from: number) => Math.min(...values.slice(from, from + quarter));
    growth.add(100 * (floor(values.length - quarter) / floor(quarter) - 1), { service });
  }
  sleep(seconds / 120);
}

export function teardown({ mark }: ReturnType<typeof setup>) {
  clear(stack.tasks, mark);
}

export const handleSummary = report('soak');
