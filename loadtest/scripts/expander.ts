/** Mostly hot links, and every tenth time a new link. */
import { check } from 'k6';
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { apiUrl, hotLink, prepareLinks } from './modules/links.ts';
import {
  baseOptions,
  constantRate,
  controlThresholds,
  get,
  latencyThresholds,
  requestControl,
} from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { announce, shortener } from './modules/stack.ts';

const { rate, duration, users, hotLinks, hitP95, missP95, failed, dropped } = settings('expander');

export const options: Options = {
  ...baseOptions,
  scenarios: { expander: constantRate(rate, duration, users) },
  thresholds: {
    ...latencyThresholds('kind:hit', [`p(95)<${hitP95}`]),
    ...latencyThresholds('kind:miss', [`p(95)<${missP95}`]),
    'http_req_failed{scenario:expander,target:stack}': [`rate<${failed}`],
    dropped_iterations: [`count<=${dropped}`],
    checks: ['rate>0.999'],
    ...controlThresholds([`p(95)<${hitP95 / 2}`]),
  },
};

export function setup() {
  announce(`It fills caches with ${hotLinks} hot links, and ${rate / 10} new ones a second.`);
  return prepareLinks(hotLinks);
}

export default function expandLink(run: ReturnType<typeof setup>) {
  requestControl();
  const i = exec.scenario.iterationInTest;
  if (i % 10 === 0) expand(`/chain/${2 + ((i / 10) % 5)}?id=${run}-${i}`, 'miss');
  else expand(hotLink(run, Math.floor(Math.random() * hotLinks)), 'hit');
}

function expand(link: string, kind: 'hit' | 'miss'): void {
  const response = get(apiUrl(link), { name: kind, kind });
  // A chain of six redirects exceeds the limit by one, but its sixth target, the result, is its end.
  const longUrl = shortener + link.replace(/\d+/, '0');
  check(response, { 'the long URL is right': (r) => r.status === 200 && r.body === longUrl });
}
