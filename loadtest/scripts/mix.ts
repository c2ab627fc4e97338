/** Hot links, cold links, the list and writes, in shares of one rate. `make capacity` raises that. */
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { askControl } from './modules/control.ts';
import { get } from './modules/request.ts';
import { constantRate } from './modules/scenario.ts';
import { settings } from './modules/settings.ts';
import { apiUrl, baseOptions, requireShortener, stack } from './modules/stack.ts';
import { addTask, announceTasks, importTasks, openSession } from './modules/task-list.ts';

const { rate, duration, users, hot, cold, list, writes, p99, failed } = settings('mix');

/** Seconds in which connections open and code is compiled. */
const warmUp = 2;
const hotLinks = 100;
/** A full page. */
const listed = 100;

const kinds = { hot, cold, list, writes };
type Kind = keyof typeof kinds;

/** Only metrics with a threshold are in the summary; this one is always met. */
const shown = ['max>=0'];

export const options: Options = {
  ...baseOptions,
  discardResponseBodies: true,
  scenarios: { mix: constantRate(rate, duration, users) },
  thresholds: {
    'http_req_duration{phase:steady,target:stack}': [`p(99)<${p99}`],
    'http_req_failed{phase:steady,target:stack}': [`rate<${failed}`],
    dropped_iterations: [`count<=${rate * duration * failed}`],
    checks: [`rate>${1 - failed}`],
    ...Object.fromEntries(
      Object.keys(kinds).map((kind) => [`http_req_duration{phase:steady,target:stack,kind:${kind}}`, shown]),
    ),
  },
  setupTimeout: '2m',
  teardownTimeout: '5m',
};

export function setup() {
  const titlePrefix = announceTasks(`${listed} tasks, then ${rate * writes} a second for ${duration} s`);
  requireShortener();
  const session = openSession(stack.tasks);
  importTasks(stack.tasks, titlePrefix, listed);
  const run = Date.now();
  for (let i = 0; i < hotLinks; i += 1)
    http.get(apiUrl(`/chain/2?id=${run}-hot-${i}`), { tags: { name: 'setup' } });
  return { session, titlePrefix, run };
}

export default function request({ session, titlePrefix, run }: ReturnType<typeof setup>) {
  const i = exec.scenario.iterationInTest;
  const steady = i >= warmUp * rate;
  // The runner measures from here on.
  if (i === warmUp * rate) console.log('steady');
  const kind = kindOf(i);
  const tags = { name: kind, kind, phase: steady ? 'steady' : 'warm-up' };
  const requests = {
    hot: () => get(apiUrl(`/chain/2?id=${run}-hot-${i % hotLinks}`), { tags }),
    cold: () => get(apiUrl(`/chain/2?id=${run}-${i}`), { tags }),
    list: () => get(`${stack.tasks}/`, { tags }),
    writes: () => addTask(stack.tasks, session, `${titlePrefix} ${i}`, { tags }),
  };
  check(requests[kind](), { 'the response is right': (r) => r.status === (kind === 'writes' ? 302 : 200) });
  askControl({ phase: tags.phase });
}

/** The kinds in their shares, evenly spread: multiples of the golden ratio fill the range from 0 to 1. */
function kindOf(i: number): Kind {
  let left = ((i * 0.618_033_988_75) % 1) * (hot + cold + list + writes);
  for (const [kind, share] of Object.entries(kinds)) {
    left -= share;
    if (left < 0) return kind as Kind;
  }
  return 'hot';
}

export { teardown } from './modules/task-list.ts';
