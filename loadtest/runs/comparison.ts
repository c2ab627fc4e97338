import { textTable } from '../table.ts';
import { controlOf, type K6Summary } from './verdict.ts';

const statistics = ['med', 'p(95)', 'p(99)', 'p(99.9)'];

/** The latencies of two runs side by side, in milliseconds, and what the control needed in each. */
export function compareSummaries(a: K6Summary, b: K6Summary): string {
  const isLatency = /^http_req_duration(\{.*target:stack.*\})?$/;
  const common = Object.keys(a.metrics).filter((metric) => isLatency.test(metric) && b.metrics[metric]);
  const rows = common.toSorted().flatMap((metric) =>
    statistics.map((statistic) => {
      const values = [a.metrics[metric], b.metrics[metric]];
      const controls = [controlOf(a.metrics, metric), controlOf(b.metrics, metric)];
      return [metric, statistic, ...[...values, ...controls].map((from) => shown(from?.[statistic]))];
    }),
  );
  const rates = [a, b].map(({ metrics }) => shown(metrics.http_reqs?.rate));
  return textTable([
    ['', 'ms', 'A', 'B', 'control A', 'control B'],
    ...rows,
    ['requests a second', '', ...rates, '', ''],
  ]);
}

const shown = (value?: number) => (value === undefined ? '' : value.toPrecision(3));
