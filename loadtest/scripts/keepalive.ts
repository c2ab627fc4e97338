/**
 * A constant rate over keep-alive connections: no response may wait for a delayed acknowledgement, which shows as a
 * second peak of the latencies at 40 ms.
 */
import { check } from 'k6';
import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { Rate } from 'k6/metrics';
import type { Options, Scenario } from 'k6/options';
import { report, summaryTrendStats } from './modules/report.ts';
import { constantRate } from './modules/scenario.ts';
import { profile, stack, tasksDirect } from './modules/stack.ts';
import { addTask, newTitlePrefix, openSession, type Session } from './modules/task-list.ts';

/** Every user has one connection. */
const { rate, burst, seconds, users, limits } = profile.keepalive;

/** Responses that took as long as a delayed acknowledgement: 35 to 60 ms. */
const delayed = new Rate('delayed_by_acknowledgement');

const routes = [
  ...(tasksDirect ? [{ route: 'direct', url: tasksDirect }] : []),
  { route: 'proxy', url: stack.tasks },
];
const scenarios = routes.flatMap(({ route, url }) =>
  ['get', 'post'].map((exec) => ({ name: `${route}_${exec}`, exec, url })),
);

export const options: Options = {
  scenarios: Object.fromEntries(
    scenarios.map(({ name, exec, url }, i): [string, Scenario] => [
      name,
      {
        // Each iteration sends `burst` requests, which makes `rate` requests per second.
        ...constantRate(rate / burst, seconds, users),
        exec,
        env: { URL: url },
        // One scenario after the other, with a pause of a second between them.
        startTime: `${i * (seconds + 1)}s`,
        gracefulStop: '1s',
      },
    ]),
  ),
  thresholds: {
    ...Object.fromEntries(
      scenarios.flatMap(({ name }) => [
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
  const titlePrefix = newTitlePrefix();
  const sessions: Record<string, Session> = {};
  const params = { tags: { name: 'setup' } };
  for (const { url } of routes) {
    sessions[url] = openSession(url);
    // A new process compiles its code during the first requests, which are not measured.
    for (let i = 0; i < rate; i += 1) http.get(`${url}/`, params);
    for (let i = 0; i < rate / 4; i += 1) addTask(url, sessions[url], `${titlePrefix} setup`, params);
  }
  if (!tasksDirect) console.warn('TASKS_DIRECT_URL is not set: measuring through the proxy only.');
  return { sessions, titlePrefix };
}

export function get() {
  for (let i = 0; i < burst; i += 1) {
    measure(200, http.get(`${__ENV.URL}/`, { tags: { name: 'GET /', phase: phase() } }));
  }
}

export function post({ sessions, titlePrefix }: ReturnType<typeof setup>) {
  const url = __ENV.URL as string;
  const params = { tags: { name: 'POST /task', phase: phase() } };
  for (let i = 0; i < burst; i += 1) {
    const title = `${titlePrefix} ${exec.scenario.iterationInTest}-${i}`;
    measure(302, addTask(url, sessions[url] as Session, title, params));
  }
}

/** A user opens its connection in the first iteration; all later ones must find it open. */
const phase = () => (exec.vu.iterationInScenario === 0 ? 'warm-up' : 'steady');

function measure(status: number, response: RefinedResponse<http.ResponseType>): void {
  const { duration } = response.timings;
  if (phase() === 'steady') delayed.add(duration >= 35 && duration < 60);
  check(response, { 'the response is right': (r) => r.status === status });
}

export { teardown } from './modules/task-list.ts';
export const handleSummary = report('keepalive');
