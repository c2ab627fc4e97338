/** Tagged requests to the stack and to the control, and the options and thresholds of all scripts. */
import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import type { ConstantArrivalRateScenario } from 'k6/options';
import { controlUrl } from './stack.ts';

type Thresholds = Record<string, string[]>;
type Tags = Record<string, string>;

/** A request to the stack. */
export const get = (url: string, tags: Tags) =>
  http.get(url, { tags: { ...tags, target: 'stack' } }) as RefinedResponse<'text'>;

/** Requests the control in every tenth iteration. */
export function requestControl(tags: Tags = {}): void {
  if (!controlUrl || exec.scenario.iterationInTest % 10 !== 5) return;
  http.get(`${controlUrl}/`, { tags: { ...tags, name: 'control', target: 'control' } });
}

/** Options of every script. */
export const baseOptions = {
  // A redirect might lead to another host.
  maxRedirects: 0,
  summaryTrendStats: ['count', 'avg', 'min', 'med', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
  setupTimeout: '3m',
  teardownTimeout: '10m',
};

/** A scenario with `rate` iterations per second, started on time even when earlier ones are slow. */
export const constantRate = (
  rate: number,
  seconds: number,
  preAllocatedVUs: number,
): ConstantArrivalRateScenario => ({
  executor: 'constant-arrival-rate',
  rate,
  timeUnit: '1s',
  duration: `${seconds}s`,
  preAllocatedVUs,
});

/** Thresholds for the stack's latencies with the tags in `selector`. */
export const latencyThresholds = (selector: string, rules: string[]): Thresholds => ({
  [`http_req_duration{${selector},target:stack}`]: rules,
});

/** Thresholds for the control. Without one there are none: k6 counts a threshold without requests as passed. */
export const controlThresholds = (rules: string[], selector = ''): Thresholds =>
  controlUrl ? { [`http_req_duration{target:control${selector}}`]: rules } : {};
