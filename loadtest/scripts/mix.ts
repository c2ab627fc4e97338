/** Hot links, cold links, the list and writes, in shares of one rate. */
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { alwaysMet } from '../profiles.ts';
import { type MixedLoad, prepareMixedLoad, sendMixedRequest } from './modules/mixed-load.ts';
import { baseOptions, constantRate, latencyThresholds } from './modules/requests.ts';
import { settings } from './modules/settings.ts';

const { rate, duration, users, p99, failed, ...shares } = settings('mix');

/** Seconds in which connections open and code is compiled. */
const warmUp = 2;

export const options: Options = {
  ...baseOptions,
  discardResponseBodies: true,
  scenarios: { mix: constantRate(rate, duration, users) },
  thresholds: {
    ...latencyThresholds('phase:steady', [`p(99)<${p99}`]),
    'http_req_failed{phase:steady,target:stack}': [`rate<${failed}`],
    dropped_iterations: [`count<=${rate * duration * failed}`],
    checks: [`rate>${1 - failed}`],
    ...Object.fromEntries(
      Object.keys(shares).map((kind) => [
        `http_req_duration{phase:steady,target:stack,kind:${kind}}`,
        [alwaysMet],
      ]),
    ),
  },
};

export const setup = () =>
  prepareMixedLoad(`${rate * shares.writes} a second for ${duration} s`, rate * (shares.hot + shares.cold));

export default function request(load: MixedLoad) {
  const steady = exec.scenario.iterationInTest >= warmUp * rate;
  sendMixedRequest(load, shares, steady ? 'steady' : 'warm-up');
}

export { teardown } from './modules/task-list.ts';
