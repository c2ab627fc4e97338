/** The output of `k6 run --summary-export`. */
export interface K6Summary {
  /** A threshold is true if it failed. */
  metrics: Record<string, Record<string, number> & { thresholds?: Record<string, boolean> }>;
}

/** `busy`: the machine was too slow for a verdict. */
export type Outcome = 'passed' | 'failed' | 'busy';

/** Judges a run by its thresholds. The reason is one sentence. */
export function judge({ metrics }: K6Summary): { outcome: Outcome; reason: string } {
  const crossed = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([rule, crossed]) => (crossed ? [`${metric} ${rule}`] : [])),
  );
  const names = crossed.join(', ') || 'nothing';
  if (crossed.some((name) => name.includes('target:control')))
    return { outcome: 'busy', reason: `machine busy, no verdict: the control was too slow (${names})` };
  const rate = metrics.rate_reached?.value;
  if (rate !== undefined)
    return { outcome: 'passed', reason: `reached ${Math.round(rate)} requests a second; crossed ${names}` };
  return crossed.length > 0
    ? { outcome: 'failed', reason: `failed: ${names}` }
    : { outcome: 'passed', reason: 'passed' };
}
