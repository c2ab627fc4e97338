/** Output of `k6 run --summary-export`. */
export interface K6Summary {
  /** A threshold is true if it failed. */
  metrics: Record<string, Record<string, number> & { thresholds?: Record<string, boolean> }>;
}

/** `busy` means that the machine was too slow for a verdict. */
export type Outcome = 'passed' | 'failed' | 'busy';

export interface Verdict {
  outcome: Outcome;
  /** A sentence without its subject, the script. It names only the threshold that decided. */
  reason: string;
  /** The other thresholds that failed. */
  others: string[];
}

/** Decides whether a run passed, from its thresholds. */
export function judge({ metrics }: K6Summary): Verdict {
  const failed = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([rule, crossed]) => (crossed ? [`${metric} ${rule}`] : [])),
  );
  // A slow control means that all other thresholds say nothing about the stack.
  const control = failed.find((name) => name.includes('target:control'));
  const decisive = control ?? failed[0];
  const others = failed.filter((name) => name !== decisive);
  if (control) return { outcome: 'busy', reason: `is inconclusive: the control failed ${control}`, others };
  const rate = metrics.rate_reached?.value;
  if (rate !== undefined) {
    const reached = `reached ${Math.round(rate)} requests per second`;
    return { outcome: 'passed', reason: decisive ? `${reached}, then failed ${decisive}` : reached, others };
  }
  return decisive
    ? { outcome: 'failed', reason: `failed ${decisive}`, others }
    : { outcome: 'passed', reason: 'passed', others };
}
