/** A constant rate over keep-alive connections. A delayed acknowledgement shows as a second peak of latencies at 40 ms. */
import { check } from 'k6';
import exec from 'k6/execution';
import type http from 'k6/http';
import { Rate } from 'k6/metrics';
import type { Options, Scenario } from 'k6/options';
import {
  baseOptions,
  constantRate,
  controlThresholds,
  latencyThresholds,
  get as request,
  requestControl,
} from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { stack, tasksDirect } from './modules/stack.ts';
import { addTask, openSession, openTaskList, type Session } from './modules/task-list.ts';

// Every VU has one connection.
const { rate, burst, duration, users, ...limits } = settings('keepalive');

/** Responses that took as long as a delayed acknowledgement: 35 to 60 ms. */
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
        // Each iteration sends `burst` requests, which makes `rate` requests per second.
        ...constantRate(rate / burst, duration, users),
        exec,
        env: { URL: url },
        // One scenario after the other, with a pause of a second between them.
        startTime: `${i * (duration + 1)}s`,
        gracefulStop: '1s',
      },
    ]),
  ),
  thresholds: {
    ...Object.fromEntries(
      scenarios.flatMap(({ name }) => [
        ...Object.entries(latencyThresholds(`scenario:${name},phase:steady`, latencies)),
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
  const { titlePrefix } = openTaskList(`${rate} tasks a second for ${duration} s`);
  const sessions: Record<string, Session> = {};
  const tags = { name: 'setup' };
  for (const { url } of routes) {
    sessions[url] = openSession(url);
    // V8 compiles the code of a new process during the first requests.
    for (let i = 0; i < rate; i += 1) request(`${url}/`, tags);
    for (let i = 0; i < rate / 4; i += 1) addTask(sessions[url], `${titlePrefix} setup`, tags);
  }
  if (!tasksDirect) console.warn('TASKS_DIRECT_URL is not set: measuring through the proxy only.');
  return { sessions, titlePrefix };
}

type Data = ReturnType<typeof setup>;

/** Both, through the proxy: for `k6 run --vus … --duration …`, which replaces the scenarios. */
export default function getAndPost(data: Data) {
  get();
  post(data);
}

/** k6 sets the environment of a scenario only while it runs. */
const scenarioUrl = () => __ENV.URL || stack.tasks;

export function get() {
  for (let i = 0; i < burst; i += 1) {
    measure(200, request(`${scenarioUrl()}/`, { name: 'GET /', phase: phase() }));
  }
  requestControl({ phase: phase() });
}

export function post({ sessions, titlePrefix }: Data) {
  const url = scenarioUrl();
  for (let i = 0; i < burst; i += 1) {
    const title = `${titlePrefix} ${exec.scenario.iterationInTest}-${i}`;
    measure(302, addTask(sessions[url] as Session, title, { phase: phase() }));
  }
  requestControl({ phase: phase() });
}

/** A VU opens its connection in the first iteration, and reuses it afterwards. */
const phase = () => (exec.vu.iterationInScenario === 0 ? 'warm-up' : 'steady');

function measure(status: number, response: http.Response): void {
  const { duration } = response.timings;
  if (phase() === 'steady') delayed.add(duration >= 35 && duration < 60);
  check(response, { 'the response is right': (r) => r.status === status });
}

export { teardown } from './modules/task-list.ts';
