import { alwaysMet } from '../profiles.ts';

/** What k6 measured of a metric, by the statistic's name; for thresholds, whether they are crossed. */
type Values = Record<string, number> & { thresholds?: Record<string, boolean> };

/** What `k6 run --summary-export` writes. */
export interface K6Summary {
  metrics: Record<string, Values>;
}

/** A threshold, with the values of the stack and of the control. */
export interface Objective {
  /** The metric with its selector. */
  metric: string;
  /** `p(99)<20`. */
  rule: string;
  value: number;
  /** The control's value, for latencies. */
  control?: number;
  /** Nothing was measured: options of k6 may have replaced its scenario. */
  unmeasured?: boolean;
  met: boolean;
}

export interface Verdict {
  /** `busy`: the machine did too much else, so the run says nothing about the stack. */
  outcome: 'passed' | 'failed' | 'busy';
  objectives: Objective[];
  /** Requests a second at the end of a `breakpoint`, which looks for the rate that crosses a threshold. */
  rateReached?: number;
}

/**
 * If a threshold is crossed and other programs used more cores than this, they may be the reason. The control alone does
 * not show that: it is one small process, but a write passes through four and waits for the disk.
 */
const mayBeOthers = 0.2;

/** Metrics that other programs affect, unlike wrong responses. */
const speed = /^(http_req_duration|http_req_connecting|dropped_iterations|delayed_by_acknowledgement)/;

/** Metrics that must hold on any machine, however busy. */
const damage = /^(lost_writes|duplicated_writes)$/;

/**
 * Judges a run by its thresholds. Subtracts the control's latency from each of the stack's, because it is that of the
 * machine and of k6. There is no verdict if the control crosses a threshold, or if the stack does while other programs
 * use the CPU.
 *
 * @param others cores that other programs used.
 * @param growth of the stack's processes; a leak is one on any machine.
 */
export function judge({ metrics }: K6Summary, others = 0, growth: readonly Objective[] = []): Verdict {
  const inOrder = Object.entries(metrics).sort(([a], [b]) => a.localeCompare(b));
  const thresholds = inOrder.flatMap(([metric, values]) =>
    Object.entries(values.thresholds ?? {}).flatMap(([rule, crossed]) => {
      if (rule === alwaysMet) return [];
      return [withControl({ metric, rule, value: measured(values, rule), met: !crossed }, metrics)];
    }),
  );
  const rateReached = metrics.rate_reached?.value;
  const objectives = [...thresholds, ...growth];
  const verdict = { objectives, ...(rateReached !== undefined && { rateReached }) };
  const failed = thresholds.filter(({ met }) => !met);
  const isDamage = growth.some(({ met }) => !met) || failed.some(({ metric }) => damage.test(metric));
  if (isDamage || thresholds.every(({ unmeasured }) => unmeasured)) return { outcome: 'failed', ...verdict };
  const slow = failed.length > 0 && failed.every(({ metric }) => speed.test(metric));
  const busy = failed.some(({ metric }) => isControl(metric)) || (slow && others > mayBeOthers);
  const passed = failed.length === 0 || rateReached !== undefined;
  return { outcome: busy ? 'busy' : passed ? 'passed' : 'failed', ...verdict };
}

export const isControl = (metric: string) => metric.includes('target:control');

/** What the control needed where the stack needed `metric`; undefined if it was not asked. */
export function controlOf(metrics: K6Summary['metrics'], metric: string): Values | undefined {
  const name = metric.includes('{')
    ? metric.replace('target:stack', 'target:control')
    : `${metric}{target:control}`;
  return name !== metric && metrics[name]?.count ? metrics[name] : undefined;
}

function withControl(objective: Objective, metrics: K6Summary['metrics']): Objective {
  const { metric, rule, value } = objective;
  if (!/^http_req_duration\{.*target:stack/.test(metric)) return objective;
  if (metrics[metric]?.count === 0) return { ...objective, unmeasured: true };
  const [, statistic = '', limit] = /^(\S+?)<([\d.]+)$/.exec(rule) ?? [];
  const control = controlOf(metrics, metric)?.[statistic];
  if (control === undefined) return objective;
  return { ...objective, control, met: value - control < Number(limit) };
}

/** The value that a rule is about; k6 calls that of a rate `value`. */
function measured(values: Values, rule: string): number {
  const [statistic = ''] = /^[^<>=!\s]+/.exec(rule) ?? [];
  return Number(values['passes' in values ? 'value' : statistic]);
}
