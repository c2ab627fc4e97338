/** Increases the rate of expansions, list reads and task writes until requests are slow or fail. */
import { check } from 'k6';
import exec from 'k6/execution';
import { Gauge } from 'k6/metrics';
import type { Options } from 'k6/options';
import { baseOptions, get } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { apiUrl, hotLink, prepareLinks, stack } from './modules/stack.ts';
import { addTask, importTasks, openTaskList } from './modules/task-list.ts';

const { rate, peakRate, duration, users, hot, cold, list, p99, failed } = settings('breakpoint');

/** Time at the first rate, while connections open and V8 compiles (s). */
const warmUp = 5;
const hotLinks = 100;
/** Number of listed tasks, which fill one page. */
const listed = 100;

/** Requests per second. The last value is the breakpoint. */
const reached = new Gauge('rate_reached');

const abortUnless = (threshold: string) => [
  { threshold, abortOnFail: true, delayAbortEval: `${warmUp + 5}s` },
];

export const options: Options = {
  ...baseOptions,
  discardResponseBodies: true,
  scenarios: {
    breakpoint: {
      executor: 'ramping-arrival-rate',
      startRate: rate,
      stages: [
        { target: rate, duration: `${warmUp}s` },
        { target: peakRate, duration: `${duration}s` },
      ],
      preAllocatedVUs: users,
    },
  },
  thresholds: {
    'http_req_duration{phase:steady}': abortUnless(`p(99)<${p99}`),
    'http_req_failed{phase:steady}': abortUnless(`rate<${failed}`),
    dropped_iterations: abortUnless(`count<=${rate * failed}`),
  },
};

export function setup() {
  const { session, titlePrefix } = openTaskList(`${listed} tasks, then up to ${peakRate} per second`);
  const run = prepareLinks(hotLinks);
  importTasks(titlePrefix, listed);
  return { session, titlePrefix, run };
}

export default function request({ session, titlePrefix, run }: ReturnType<typeof setup>) {
  const seconds = (Date.now() - exec.scenario.startTime) / 1_000 - warmUp;
  // A soak test has a constant rate and no breakpoint.
  if (peakRate > rate) reached.add(rate + Math.max(0, seconds / duration) * (peakRate - rate));
  const i = exec.scenario.iterationInTest;
  const tags = { name: 'breakpoint', phase: seconds > 0 ? 'steady' : 'warm-up' };
  const place = Math.random();
  if (place < hot) expectStatus(200, get(apiUrl(hotLink(run, i % hotLinks)), tags));
  else if (place < hot + cold) expectStatus(200, get(apiUrl(`/chain/2?id=${run}-${i}`), tags));
  else if (place < hot + cold + list) expectStatus(200, get(`${stack.tasks}/`, tags));
  else expectStatus(302, addTask(session, `${titlePrefix} ${i}`, tags));
}

const expectStatus = (status: number, response: { status: number }) =>
  check(response, { 'the status is correct': (r) => r.status === status });

export { teardown } from './modules/task-list.ts';
