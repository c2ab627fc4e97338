/** Output of `k6 run --summary-export`. */
export interface K6Summary {
  /** A threshold is true if it failed. */
  metrics: Record<string, Record<string, number> & { thresholds?: Record<string, boolean> }>;
}

/** `busy` means that the machine was too slow for a verdict. */
export type Outcome = 'passed' | 'failed' | 'busy';

/** Decides whether a run passed, from its thresholds. */
export function judge({ metrics }: K6Summary): { outcome: Outcome; reason: string } {
  const crossed = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([rule, crossed]) => (crossed ? [`${metric} ${rule}`] : [])),
  );
  const names = crossed.join(', ') || 'nothing';
  if (crossed.some((name) => name.includes('target:control')))
    return { outcome: 'busy', reason: `is inconclusive: the control was too slow (${names})` };
  const rate = metrics.rate_reached?.value;
  if (rate !== undefined)
    return { outcome: 'passed', reason: `reached ${Math.round(rate)} requests per second; failed ${names}` };
  return crossed.length > 0
    ? { outcome: 'failed', reason: `failed: ${names}` }
    : { outcome: 'passed', reason: 'passed' };
}
