import { matches, type Sample } from '../samples.ts';
import { ascending, mean, quantile } from '../statistics.ts';

/** What `k6 run --summary-export` writes; for thresholds, whether they are crossed. */
export interface K6Summary {
  metrics: Record<string, Record<string, number> & { thresholds?: Record<string, boolean> }>;
}

/** A threshold: what was measured, what the control needed meanwhile, and what that says. */
export interface Objective {
  /** The metric with its selector. */
  metric: string;
  /** `p(99)<20`. */
  rule: string;
  value: number;
  /** The control's value, for latencies. */
  control?: number;
  /** Nothing was measured: options of k6 may replace the scenario that it is about. */
  unmeasured?: boolean;
  met: boolean;
}

export interface Verdict {
  /** `busy`: the machine had too much else to do, so nothing is said about the stack. */
  outcome: 'passed' | 'failed' | 'busy';
  objectives: Objective[];
}

/**
 * Cores that programs of others may use while a threshold is crossed; if it is more, they may be the reason. The control
 * alone does not tell: it is one small process, and a write passes through four and waits for the disk.
 */
const mayBeOthers = 0.2;

/** What other programs can slow down; a wrong response is none of it. */
const speed = /^(http_req_duration|http_req_connecting|dropped_iterations|delayed_by_acknowledgement)/;

/** What is wrong on any machine, however busy. */
const damage = /^(lost_writes|duplicated_writes)$/;

/**
 * Judges a run by its thresholds. Of a latency, what the control needed at the same time is subtracted: that is the
 * machine's and the load generator's share. Where the control itself crosses a threshold, or the stack does while other
 * programs use the CPU, there is no verdict.
 *
 * @param others cores that other programs used.
 */
export function judge({ metrics }: K6Summary, samples: readonly Sample[], others = 0): Verdict {
  const inOrder = Object.entries(metrics).sort(([a], [b]) => a.localeCompare(b));
  const objectives = inOrder.flatMap(([metric, values]) =>
    Object.entries(values.thresholds ?? {}).map(([rule, crossed]) => {
      const objective = { metric, rule, value: measured(values, rule), met: !crossed };
      return withControl(objective, samples);
    }),
  );
  const failed = objectives.filter(({ met }) => !met);
  if (objectives.every(({ unmeasured }) => unmeasured)) return { outcome: 'failed', objectives };
  const slow = failed.length > 0 && failed.every(({ metric }) => speed.test(metric));
  const busy = failed.some(({ metric }) => isControl(metric)) || (slow && others > mayBeOthers);
  if (failed.some(({ metric }) => damage.test(metric))) return { outcome: 'failed', objectives };
  return { outcome: busy ? 'busy' : failed.length > 0 ? 'failed' : 'passed', objectives };
}

export const isControl = (metric: string) => metric.includes('target:control');

function withControl(objective: Objective, samples: readonly Sample[]): Objective {
  const { metric, rule, value } = objective;
  const selector = selectorOf(metric);
  if (!metric.startsWith('http_req_duration{') || selector.target !== 'stack') return objective;
  const [, statistic = '', operator, limit] = /^(\S+?)\s*(<=?)\s*([\d.]+)$/.exec(rule) ?? [];
  const times = (target: string) =>
    samples
      .filter(({ metric, tags }) => metric === 'http_req_duration' && matches(tags, { ...selector, target }))
      .map(({ value }) => value);
  if (times('stack').length === 0) return { ...objective, unmeasured: true };
  const ofControl = times('control');
  if (ofControl.length === 0 || !operator) return objective;
  const control = statisticOf(ofControl, statistic);
  const difference = value - control;
  return {
    ...objective,
    control,
    met: operator === '<' ? difference < Number(limit) : difference <= Number(limit),
  };
}

/** `metric{a:b,c:d}` → `{a: 'b', c: 'd'}`. */
function selectorOf(metric: string): Record<string, string> {
  const pairs = /\{(.*)\}$/.exec(metric)?.[1]?.split(',') ?? [];
  return Object.fromEntries(pairs.map((pair) => pair.split(/:(.*)/).slice(0, 2)));
}

function statisticOf(values: readonly number[], statistic: string): number {
  if (statistic === 'avg') return mean(values);
  if (statistic === 'med') return quantile(ascending(values), 0.5);
  if (statistic === 'max') return Math.max(...values);
  return quantile(ascending(values), Number(/^p\((.+)\)$/.exec(statistic)?.[1]) / 100);
}

/** The value that a rule is about; k6 calls that of a rate or a gauge `value`. */
function measured(values: Record<string, unknown>, rule: string): number {
  const statistic = /^[^<>=!\s]+/.exec(rule)?.[0] ?? '';
  return Number(
    values[statistic === 'rate' && 'passes' in values ? 'value' : statistic] ?? values.value ?? Number.NaN,
  );
}
