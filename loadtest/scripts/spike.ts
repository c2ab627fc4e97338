/** For a moment, far more load than two cores can serve: refusals are fine, and soon everything is back to normal. */
import { check } from 'k6';
import exec from 'k6/execution';
import type http from 'k6/http';
import type { Options } from 'k6/options';
import { askControl, baseOptions, controlThresholds, get, latencyThresholds } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { requirePage, stack } from './modules/stack.ts';
import { addTask, openTaskList } from './modules/task-list.ts';

const { rate: base, peakRate: peak, ramp, hold, after, users, recoveredP95 } = settings('spike');

/** Seconds from the end of the spike until everything must be back to normal. */
const recovery = 5;
const recoveredAt = ramp + ramp + hold + ramp + recovery;

export const options: Options = {
  ...baseOptions,
  scenarios: {
    spike: {
      executor: 'ramping-arrival-rate',
      startRate: base,
      timeUnit: '1s',
      stages: [
        { target: base, duration: `${ramp}s` },
        { target: peak, duration: `${ramp}s` },
        { target: peak, duration: `${hold}s` },
        { target: base, duration: `${ramp}s` },
        { target: base, duration: `${recovery + after}s` },
      ],
      preAllocatedVUs: users,
      maxVUs: 2 * users,
    },
  },
  thresholds: {
    'checks{kind:status}': ['rate==1'],
    'checks{kind:recovered}': ['rate==1'],
    ...latencyThresholds('phase:recovered', [`p(95)<${recoveredP95}`]),
    dropped_iterations: ['count==0'],
    ...controlThresholds([`p(95)<${recoveredP95 / 2}`], ',phase:recovered'),
  },
};

export function setup() {
  requirePage(stack.expander);
  return openTaskList(`tasks, one with each tenth request: up to ${peak / 10} a second`);
}

/** Of ten requests one is a write, three read the list and six go to the expander. */
export default function mixedRequest({ session, titlePrefix }: ReturnType<typeof setup>) {
  const phase = (Date.now() - exec.scenario.startTime) / 1_000 > recoveredAt ? 'recovered' : 'spike';
  const i = exec.scenario.iterationInTest;
  const read = (url: string) => get(url, { phase, name: url });
  const requests = [
    () => addTask(session, `${titlePrefix} ${i}`, { phase }),
    ...Array(3).fill(() => read(`${stack.tasks}/`)),
    ...Array(3).fill(() => read(`${stack.expander}/`)),
    ...Array(3).fill(() => read(`${stack.expander}/api`)),
  ];
  const response: http.Response = requests[i % 10]();
  const { status } = response;
  check(
    response,
    { 'only 200, 302, 429 or 503': () => [200, 302, 429, 503].includes(status) },
    { kind: 'status' },
  );
  if (phase === 'recovered') {
    check(response, { 'served as before': () => status === 200 || status === 302 }, { kind: 'recovered' });
  }
  askControl({ phase });
}

export { teardown } from './modules/task-list.ts';
