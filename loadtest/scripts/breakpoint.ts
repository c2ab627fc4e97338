/** Hot and cold links, the list and writes, at a rising rate until they are too slow, fail, or k6 drops iterations. */
import { check } from 'k6';
import exec from 'k6/execution';
import { Gauge } from 'k6/metrics';
import type { Options } from 'k6/options';
import { apiUrl, hotLink, prepareLinks } from './modules/links.ts';
import { baseOptions, get } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { stack } from './modules/stack.ts';
import { addTask, importTasks, openTaskList } from './modules/task-list.ts';

const { rate, peakRate, duration, users, p99, failed, ...shares } = settings('breakpoint');

/** Seconds at the first rate, while connections open and V8 compiles. */
const warmUp = 5;
const hotLinks = 100;
/** A full page. */
const listed = 100;

/** Requests a second; the last value is the breakpoint. A constant rate has none. */
const reached = new Gauge('rate_reached');

/** A threshold that ends the run. */
const ends = (threshold: string) => [{ threshold, abortOnFail: true, delayAbortEval: `${warmUp + 5}s` }];

export const options: Options = {
  ...baseOptions,
  discardResponseBodies: true,
  scenarios: {
    breakpoint: {
      executor: 'ramping-arrival-rate',
      startRate: rate,
      timeUnit: '1s',
      stages: [
        { target: rate, duration: `${warmUp}s` },
        { target: peakRate, duration: `${duration}s` },
      ],
      preAllocatedVUs: users,
    },
  },
  thresholds: {
    'http_req_duration{phase:steady,target:stack}': ends(`p(99)<${p99}`),
    'http_req_failed{phase:steady,target:stack}': ends(`rate<${failed}`),
    dropped_iterations: ends(`count<=${rate * failed}`),
  },
};

export function setup() {
  const writes = `${rate * shares.writes} to ${peakRate * shares.writes} a second for ${duration} s`;
  const { session, titlePrefix } = openTaskList(`${listed} tasks, then ${writes}`);
  const run = prepareLinks(hotLinks);
  importTasks(titlePrefix, listed);
  return { session, titlePrefix, run };
}

export default function request({ session, titlePrefix, run }: ReturnType<typeof setup>) {
  const seconds = (Date.now() - exec.scenario.startTime) / 1_000 - warmUp;
  if (peakRate > rate) reached.add(rate + Math.max(0, seconds / duration) * (peakRate - rate));
  const i = exec.scenario.iterationInTest;
  const kind = randomKind();
  const tags = { name: kind, kind, phase: seconds > 0 ? 'steady' : 'warm-up' };
  const requests = {
    hot: () => get(apiUrl(hotLink(run, i % hotLinks)), tags),
    cold: () => get(apiUrl(`/chain/2?id=${run}-${i}`), tags),
    list: () => get(`${stack.tasks}/`, tags),
    writes: () => addTask(session, `${titlePrefix} ${i}`, tags),
  };
  check(requests[kind](), { 'the response is right': (r) => r.status === (kind === 'writes' ? 302 : 200) });
}

/** A random kind of request, by the shares. */
function randomKind(): keyof typeof shares {
  const { hot, cold, list, writes } = shares;
  const place = Math.random() * (hot + cold + list + writes);
  if (place < hot) return 'hot';
  if (place < hot + cold) return 'cold';
  return place < hot + cold + list ? 'list' : 'writes';
}

export { teardown } from './modules/task-list.ts';
