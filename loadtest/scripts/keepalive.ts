/**
 * A steady rate over connections that are kept: no answer may wait for a delayed acknowledgement, which
 * shows as a second hump of latencies at 40 ms.
 */
import { check } from 'k6';
import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { Rate } from 'k6/metrics';
import type { Options, Scenario } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { profile, stack, tasksDirect } from './parts/stack.ts';
import { addTask, clear, openSession, runMark, type Session } from './parts/task-list.ts';

/** Every user has a connection of its own. */
const { rate, together, seconds, users, limits } = profile.keepalive;

/** Answers that took as long as a delayed acknowledgement does: 35 to 60 ms. */
const delayed = new Rate('delayed_by_acknowledgement');

const ways = [
  ...(tasksDirect ? [{ way: 'direct', url: tasksDirect }] : []),
  { way: 'proxy', url: stack.tasks },
];
const runs = ways.flatMap(({ way, url }) => [
  { name: `${way}_get`, exec: 'get', url },
  { name: `${way}_post`, exec: 'post', url },
]);

export const options: Options = {
  scenarios: Object.fromEntries(
    runs.map(({ name, exec, url }, i): [string, Scenario] => [
      name,
      {
        executor: 'constant-arrival-rate',
        exec,
        env: { URL: url },
        // In requests it is `rate` a second: each arrival makes `together` of them.
        rate: rate / together,
        timeUnit: '1s',
        duration: `${seconds}s`,
        // One after the other, with a moment between them in which nothing is asked.
        startTime: `${i * (seconds + 1)}s`,
        preAllocatedVUs: users,
        gracefulStop: '1s',
      },
    ]),
  ),
  thresholds: {
    ...Object.fromEntries(
      runs.flatMap(({ name }) => [
        [
          `http_req_duration{scenario:${name},phase:steady}`,
          [`med<${limits.median}`, `p(99)<${limits.p99}`, `p(99.9)<${limits.p999}`],
        ],
        [`delayed_by_acknowledgement{scenario:${name}}`, [`rate<${limits.delayed}`]],
      ]),
    ),
    'http_req_connecting{phase:steady}': ['max==0'],
    dropped_iterations: [`count<=${limits.dropped}`],
    checks: ['rate==1'],
  },
  summaryTrendStats,
  setupTimeout: '2m',
  teardownTimeout: '5m',
};

export function setup() {
  const mark = runMark();
  const sessions: Record<string, Session> = {};
  for (const url of ways.map((way) => way.url)) {
    sessions[url] = openSession(url);
    // The first requests of a process compile its code; they are not what is measured.
    for (let i = 0; i < rate; i += 1) http.get(`${url}/`, { tags: { name: 'setup' } });
    for (let i = 0; i < rate / 4; i += 1)
      addTask(url, sessions[url], `${mark} setup`, { tags: { name: 'setup' } });
  }
  if (!tasksDirect)
    console.warn('TASKS_DIRECT_URL is not set: the service is measured through the proxy alone.');
  return { sessions, mark };
}

export function get() {
  for (let i = 0; i < together; i += 1) {
    measure(200, http.get(`${__ENV.URL}/`, { tags: { name: 'GET /', phase: phase() } }));
  }
}

export function post({ sessions, mark }: ReturnType<typeof setup>) {
  const url = __ENV.URL as string;
  for (let i = 0; i < together; i += 1) {
    const title = `${mark} ${exec.scenario.iterationInTest}-${i}`;
    measure(
      302,
      addTask(url, sessions[url] as Session, title, { tags: { name: 'POST /task', phase: phase() } }),
    );
  }
}

/** A user opens a connection at the first arrival; every later one has to find it open. */
const phase = () => (exec.vu.iterationInScenario === 0 ? 'warm-up' : 'steady');

function measure(status: number, response: RefinedResponse<http.ResponseType>): void {
  const { duration } = response.timings;
  if (phase() === 'steady') delayed.add(duration >= 35 && duration < 60);
  check(response, { 'the answer is right': (r) => r.status === status });
}

export function teardown({ mark }: ReturnType<typeof setup>) {
  clear(stack.tasks, mark);
}

export const handleSummary = report('keepalive');
