/** A modest load for a long time: nothing fails, and no process grows. */
import { check, sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Gauge } from 'k6/metrics';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './modules/report.ts';
import { constantRate } from './modules/scenario.ts';
import { abort, apiUrl, operations, profile, requireShortener, stack } from './modules/stack.ts';
import { addTask, newTitlePrefix, openSession } from './modules/task-list.ts';

const { rate } = profile.soak;
const seconds = Number(__ENV.SOAK_SECONDS || profile.soak.seconds);

/** How much more memory is in use at the end than after the first quarter, in percent. */
const growth = new Gauge('memory_growth_percent');

export const options: Options = {
  scenarios: {
    load: { ...constantRate(rate, seconds, 50), exec: 'load' },
    // A single user, so that one process sees all samples.
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
  requireShortener();
  if (!operations.expander || !operations.tasks) {
    abort(
      'The soak reads memory from /metrics: set EXPANDER_OPS_URL and TASKS_OPS_URL to the operations endpoints, or ' +
        'stop the stack, and "make load SCRIPT=soak" starts its own.',
    );
  }
  return { session: openSession(stack.tasks), titlePrefix: newTitlePrefix(), run: Date.now() };
}

/** A mix of reads, hot links and new ones; every tenth request is a write. */
export function load({ session, titlePrefix, run }: ReturnType<typeof setup>) {
  const i = exec.scenario.iterationInTest;
  const requests = [
    () => http.get(`${stack.tasks}/`),
    () => http.get(apiUrl(`/chain/2?id=${i % 50}`), { tags: { name: 'hit' } }),
    () => http.get(apiUrl(`/chain/3?id=${run}-${i}`), { tags: { name: 'miss' } }),
    () => http.get(`${stack.expander}/`),
  ];
  const request = requests[i % requests.length];
  const response =
    i % 10 === 0 || !request ? addTask(stack.tasks, session, `${titlePrefix} ${i}`) : request();
  check(response, { 'the response is right': (r) => r.status === 200 || r.status === 302 });
}

const samples: Record<string, number[]> = {};

/** Compares the lowest heap size after a collection in the last quarter with that in the first. */
export function memory() {
  for (const [service, url] of Object.entries(operations)) {
    const metrics = String(http.get(`${url}/metrics`, { tags: { name: 'metrics' } }).body);
    const heap = Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1]);
    const values = [...(samples[service] ?? []), heap];
    samples[service] = values;
    const quarter = Math.ceil(values.length / 4);
    const lowest = (from: number) => Math.min(...values.slice(from, from + quarter));
    growth.add(100 * (lowest(values.length - quarter) / lowest(quarter) - 1), { service });
  }
  sleep(seconds / 120);
}

export { teardown } from './modules/task-list.ts';
export const handleSummary = report('soak');
