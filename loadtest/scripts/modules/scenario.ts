import type { ConstantArrivalRateScenario } from 'k6/options';

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
