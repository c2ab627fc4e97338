/** Sends requests over keep-alive connections at a constant rate. Delayed acknowledgements would add a latency peak at 40 ms. */
import { check } from 'k6';
import exec from 'k6/execution';
import type http from 'k6/http';
import { Rate } from 'k6/metrics';
import type { Options, Scenario } from 'k6/options';
import {
  baseOptions,
  constantRate,
  controlThresholds,
  get as request,
  requestControl,
} from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { stack, tasksDirect } from './modules/stack.ts';
import { addTask, openSession, openTaskList, type Session } from './modules/task-list.ts';

// Every VU has one connection.
const { rate, burst, duration, users, ...limits } = settings('keepalive');

/** Share of responses that took 35 to 60 ms, the latency of a delayed acknowledgement. */
const delayed = new Rate('delayed_by_acknowledgement');

const routes = [
  ...(tasksDirect ? [{ route: 'direct', url: tasksDirect }] : []),
  { route: 'proxy', url: stack.tasks },
];
const scenarios = routes.flatMap(({ route, url }) =>
  ['get', 'post'].map((exec) => ({ name: `${route}_${exec}`, exec, url })),
);

const latencies = [`med<${limits.p50}`, `p(99)<${limits.p99}`, `p(99.9)<${limits.p999}`];

export const options: Options = {
  ...baseOptions,
  scenarios: Object.fromEntries(
    scenarios.map(({ name, exec, url }, i): [string, Scenario] => [
      name,
      {
        // Each iteration sends `burst` requests.
        ...constantRate(rate / burst, duration, users),
        exec,
        env: { URL: url },
        // The scenarios run one after another, a second apart.
        startTime: `${i * (duration + 1)}s`,
        gracefulStop: '1s',
      },
    ]),
  ),
  thresholds: {
    ...Object.fromEntries(
      scenarios.flatMap(({ name }) => [
        [`http_req_duration{scenario:${name},phase:steady,target:stack}`, latencies],
        [`delayed_by_acknowledgement{scenario:${name}}`, [`rate<${limits.delayed}`]],
      ]),
    ),
    'http_req_connecting{phase:steady,target:stack}': [`p(${100 - 100 * limits.reopened})==0`],
    dropped_iterations: [`count<=${limits.dropped}`],
    checks: ['rate==1'],
    ...controlThresholds([`p(99)<${limits.p99 / 2}`, `p(99.9)<${limits.p999 / 2}`], ',phase:steady'),
  },
};

export function setup() {
  const { titlePrefix } = openTaskList(`${rate} tasks per second for ${duration} s`);
  const sessions: Record<string, Session> = {};
  const tags = { name: 'setup' };
  for (const { url } of routes) {
    sessions[url] = openSession(url);
    // V8 compiles the code of a new process during these requests.
    for (let i = 0; i < rate; i += 1) request(`${url}/`, tags);
    for (let i = 0; i < rate / 4; i += 1) addTask(sessions[url], `${titlePrefix} setup`, tags);
  }
  if (!tasksDirect) console.warn('TASKS_DIRECT_URL is not set: measuring through the proxy only.');
  return { sessions, titlePrefix };
}

export function get() {
  for (let i = 0; i < burst; i += 1)
    measure(200, request(`${__ENV.URL}/`, { name: 'GET /', phase: phase() }));
  requestControl({ phase: phase() });
}

export function post({ sessions, titlePrefix }: ReturnType<typeof setup>) {
  for (let i = 0; i < burst; i += 1) {
    const title = `${titlePrefix} ${exec.scenario.iterationInTest}-${i}`;
    measure(302, addTask(sessions[`${__ENV.URL}`] as Session, title, { phase: phase() }));
  }
  requestControl({ phase: phase() });
}

/** A VU opens its connection in its first iteration. */
const phase = () => (exec.vu.iterationInScenario === 0 ? 'warm-up' : 'steady');

function measure(status: number, response: http.Response): void {
  const { duration } = response.timings;
  if (phase() === 'steady') delayed.add(duration >= 35 && duration < 60);
  check(response, { 'the response is correct': (r) => r.status === status });
}

export { teardown } from './modules/task-list.ts';
