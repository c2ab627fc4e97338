import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import type { ConstantArrivalRateScenario } from 'k6/options';
import { controlUrl } from './stack.ts';

type Tags = Record<string, string>;

/** Sends a request to the stack. */
export const get = (url: string, tags: Tags) =>
  http.get(url, { tags: { ...tags, target: 'stack' } }) as RefinedResponse<'text'>;

/** Requests the control every tenth iteration. */
export function requestControl(tags: Tags = {}): void {
  if (!controlUrl || exec.scenario.iterationInTest % 10 !== 5) return;
  http.get(`${controlUrl}/`, { tags: { ...tags, name: 'control', target: 'control' } });
}

export const baseOptions = {
  // A redirect could send load to another host.
  maxRedirects: 0,
  summaryTrendStats: ['count', 'avg', 'min', 'med', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
  setupTimeout: '3m',
  teardownTimeout: '10m',
};

/** Returns a scenario that starts `rate` iterations per second, even if earlier iterations are slow. */
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

/** Returns thresholds for the control. Without a control there are no thresholds, because k6 would count them as passed. */
export const controlThresholds = (rules: string[], selector = ''): Record<string, string[]> =>
  controlUrl ? { [`http_req_duration{target:control${selector}}`]: rules } : {};
