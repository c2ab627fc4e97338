/** Requests to the stack and to the control, with a tag for each, and what all scripts have as options and thresholds. */
import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import type { ConstantArrivalRateScenario } from 'k6/options';
import { controlUrl } from './stack.ts';

type Thresholds = Record<string, string[]>;
type Tags = Record<string, string>;

/** A request to the stack. */
export const get = (url: string, tags: Tags) =>
  http.get(url, { tags: { ...tags, target: 'stack' } }) as RefinedResponse<'text'>;

/** One in this many iterations also asks the control. */
const every = 10;

/** Asks the control, in every tenth iteration. */
export function askControl(tags: Tags = {}): void {
  if (!controlUrl || exec.scenario.iterationInTest % every !== every / 2) return;
  http.get(`${controlUrl}/`, { tags: { ...tags, name: 'control', target: 'control' } });
}

/** Options of every script. */
export const baseOptions = {
  // Nothing is followed to another host.
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

/** Thresholds for some of the stack's latencies. */
export const latencyThresholds = (selector: string, rules: string[]): Thresholds => ({
  [`http_req_duration{${selector},target:stack}`]: rules,
});

/**
 * Thresholds that fail if the machine is too busy to judge the stack: they are about the control alone. Without a
 * control there are none, because k6 counts a threshold without requests as met.
 */
export const controlThresholds = (rules: string[], selector = ''): Thresholds =>
  controlUrl ? { [`http_req_duration{target:control${selector}}`]: rules } : {};
