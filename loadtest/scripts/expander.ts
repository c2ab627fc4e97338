/** Expands hot links, and a new link every tenth iteration. */
import { check } from 'k6';
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { baseOptions, constantRate, controlThresholds, get, requestControl } from './modules/requests.ts';
import { settings } from './modules/settings.ts';
import { announce, apiUrl, hotLink, prepareLinks, shortener } from './modules/stack.ts';

const { rate, duration, users, hotLinks, hitP95, missP95, failed, dropped } = settings('expander');

export const options: Options = {
  ...baseOptions,
  scenarios: { expander: constantRate(rate, duration, users) },
  thresholds: {
    'http_req_duration{kind:hit}': [`p(95)<${hitP95}`],
    'http_req_duration{kind:miss}': [`p(95)<${missP95}`],
    checks: [`rate>${1 - failed}`],
    dropped_iterations: [`count<=${dropped}`],
    ...controlThresholds([`p(95)<${hitP95 / 2}`]),
  },
};

export function setup() {
  announce(`It fills caches with ${hotLinks} hot links and requests ${rate / 10} new links per second.`);
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
  // The expander follows five redirects. A sixth redirect is not followed, but its target is reported.
  const longUrl = shortener + link.replace(/\d+/, '0');
  check(response, { 'the long URL is correct': (r) => r.status === 200 && r.body === longUrl });
}
