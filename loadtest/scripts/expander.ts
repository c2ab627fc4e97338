/** Mostly links that many people follow, and every tenth one that nobody has asked for before. */
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { report, summaryTrendStats } from './parts/report.ts';
import { api, profile, shortener, shortenerIsAllowed } from './parts/stack.ts';
import { runMark } from './parts/task-list.ts';

const { rate, seconds, hotLinks } = profile.expander;

export const options: Options = {
  scenarios: {
    expander: {
      executor: 'constant-arrival-rate',
      rate,
      timeUnit: '1s',
      duration: `${seconds}s`,
      preAllocatedVUs: 100,
    },
  },
  thresholds: {
    'http_req_duration{kind:hit}': ['p(95)<15'],
    'http_req_duration{kind:miss}': ['p(95)<250'],
    'http_req_failed{scenario:expander}': ['rate<0.001'],
    dropped_iterations: ['count==0'],
    checks: ['rate>0.999'],
  },
  summaryTrendStats,
  setupTimeout: '2m',
};

const hot = (mark: string, i: number) => `/chain/2?id=${mark}-hot-${i}`;

export function setup() {
  shortenerIsAllowed();
  const mark = runMark().replace(' ', '-');
  for (let i = 0; i < hotLinks; i += 1) http.get(api(hot(mark, i)), { tags: { name: 'setup' } });
  return { mark };
}

export default function expand({ mark }: ReturnType<typeof setup>) {
  const i = exec.scenario.iterationInTest;
  if (i % 10 === 0) return ask(`/chain/${2 + ((i / 10) % 5)}?id=${mark}-${i}`, 'miss');
  return ask(hot(mark, Math.floor(Math.random() * hotLinks)), 'hit');
}

function ask(link: string, kind: 'hit' | 'miss'): void {
  const response = http.get(api(link), { tags: { name: kind, kind } });
  // Six redirects are one more than are followed: the answer is the sixth target, which is the end all the same.
  const longUrl = shortener + link.replace(/\d+/, '0');
  check(response, { 'the long URL is right': (r) => r.status === 200 && r.body === longUrl });
}

export const handleSummary = report('expander');
