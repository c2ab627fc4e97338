/** What `k6 run --summary-export` writes. */
export interface K6Summary {
  /** By the statistic's name; for thresholds, whether they are crossed. */
  metrics: Record<string, Record<string, number> & { thresholds?: Record<string, boolean> }>;
}

export interface Verdict {
  /** `busy`: the machine was too slow to judge the stack. */
  outcome: 'passed' | 'failed' | 'busy';
  /** In one sentence. */
  reason: string;
}

/**
 * Judges a run by its thresholds: one that the control crosses shows that the machine is too busy to judge the stack.
 *
 * @param growth the leaks, which are leaks on any machine.
 */
export function judge({ metrics }: K6Summary, growth: readonly string[] = []): Verdict {
  const crossed = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([rule, crossed]) => (crossed ? [`${metric} ${rule}`] : [])),
  );
  const names = [...crossed, ...growth].join(', ') || 'nothing';
  if (growth.length > 0) return { outcome: 'failed', reason: `failed: ${names}` };
  if (crossed.some((name) => name.includes('target:control')))
    return { outcome: 'busy', reason: `machine busy, no verdict: the control was too slow (${names})` };
  const rate = metrics.rate_reached?.value;
  if (rate !== undefined)
    return { outcome: 'passed', reason: `reached ${Math.round(rate)} requests a second; crossed ${names}` };
  return crossed.length > 0
    ? { outcome: 'failed', reason: `failed: ${names}` }
    : { outcome: 'passed', reason: 'passed' };
}
