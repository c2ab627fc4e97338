import type { ConstantArrivalRateScenario } from 'k6/options';
import { alwaysMet } from '../../profiles.ts';
import { controlUrl } from './stack.ts';

type Thresholds = Record<string, string[]>;

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

/** Thresholds for some of the stack's latencies. The control's go into the summary too, to compare them. */
export const latencyThresholds = (selector: string, rules: string[]): Thresholds => ({
  [`http_req_duration{${selector},target:stack}`]: rules,
  ...(controlUrl ? { [`http_req_duration{${selector},target:control}`]: [alwaysMet] } : {}),
});

/**
 * Thresholds that fail if the machine is too busy to judge the stack: they are about the control alone. Without a
 * control there are none, because k6 counts a threshold without requests as met.
 */
export const controlThresholds = (rules: string[], selector = ''): Thresholds =>
  controlUrl ? { [`http_req_duration{target:control${selector}}`]: rules } : {};
