/** Far more than two cores can serve, for a moment: it may be refused politely, and all is well soon after. */
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { firstPage, profile, stack } from './parts/stack.ts';
import { addTask, clear, openSession, runMark } from './parts/task-list.ts';

const { base, peak, ramp, hold, after } = profile.spike;

/** Seconds from the end of the spike until everything has to be as before. */
const recovery = 5;
const calmAgain = ramp + ramp + hold + ramp + recovery;

export const options: Options = {
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
      preAllocatedVUs: 500,
      maxVUs: 1_000,
    },
  },
  thresholds: {
    'checks{kind:status}': ['rate==1'],
    'checks{kind:recovered}': ['rate==1'],
    'http_req_duration{phase:recovered}': ['p(95)<50'],
  },
  summaryTrendStats,
  teardownTimeout: '5m',
};

export function setup() {
  firstPage(stack.expander);
  return { session: openSession(stack.tasks), mark: runMark() };
}

export default function everyone({ session, mark }: ReturnType<typeof setup>) {
  const phase = (Date.now() - exec.scenario.startTime) / 1_000 > calmAgain ? 'recovered' : 'spike';
  const i = exec.scenario.iterationInTest;
  const response = one(
    i % 10,
    () => addTask(stack.tasks, session, `${mark} ${i}`, { tags: { phase } }),
    phase,
  );
  const { status } = response;
  check(
    response,
    { 'only 200, 302, 429 or 503': () => [200, 302, 429, 503].includes(status) },
    { kind: 'status' },
  );
  if (phase === 'recovered') {
    check(response, { 'served as before': () => status === 200 || status === 302 }, { kind: 'recovered' });
  }
}

/** Of ten requests one is a write, three are for the list and six for the expander. */
function one(turn: number, write: () => http.Response, phase: string): http.Response {
  if (turn === 0) return write();
  const url = turn < 4 ? `${stack.tasks}/` : turn < 7 ? `${stack.expander}/` : `${stack.expander}/api`;
  return http.get(url, { tags: { phase, name: url } });
}

export function teardown({ mark }: ReturnType<typeof setup>) {
  clear(stack.tasks, mark);
}

export const handleSummary = report('spike');
