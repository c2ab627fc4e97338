/** The requests of `mix` at a rate that rises until they are too slow, fail, or cannot be sent in time. */
import exec from 'k6/execution';
import { Gauge } from 'k6/metrics';
import type { Options } from 'k6/options';
import { type MixedLoad, prepareMixedLoad, sendMixedRequest } from './modules/mixed-load.ts';
import { baseOptions } from './modules/requests.ts';
import { settings } from './modules/settings.ts';

const { rate, peakRate, duration, users, p99, failed, ...shares } = settings('breakpoint');

/** Seconds at the first rate, in which connections open and code is compiled. */
const warmUp = 5;

/** Requests a second: at the end of the run, the breakpoint. */
const reached = new Gauge('rate_reached');

/** Ends the run if it is crossed. */
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

export const setup = () =>
  prepareMixedLoad(`${rate * shares.writes} to ${peakRate * shares.writes} a second for ${duration} s`, 0);

export default function request(load: MixedLoad) {
  const seconds = (Date.now() - exec.scenario.startTime) / 1_000 - warmUp;
  reached.add(rate + Math.max(0, seconds / duration) * (peakRate - rate));
  sendMixedRequest(load, shares, seconds > 0 ? 'steady' : 'warm-up');
}

export { teardown } from './modules/task-list.ts';
