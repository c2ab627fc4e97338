import { markdownTable, textTable } from '../../table.ts';

interface Metric {
  type: 'counter' | 'gauge' | 'rate' | 'trend';
  contains: string;
  values: Record<string, number>;
  thresholds?: Record<string, { ok: boolean }>;
}

interface Summary {
  metrics: Record<string, Metric>;
  root_group: { checks: { name: string; passes: number; fails: number }[] };
  state: { testRunDurationMs: number };
}

/** Columns of a trend, in every script's options. */
export const summaryTrendStats = ['min', 'med', 'avg', 'p(95)', 'p(99)', 'p(99.9)', 'max', 'count'];

/**
 * The reports of a run: a table for the terminal, and JSON and Markdown beside k6's own HTML report,
 * in the folder that LOAD_OUT names.
 */
export function report(name: string) {
  const out = __ENV.LOAD_OUT || 'out';
  return (summary: Summary): Record<string, string> => {
    // Where `setup` ended the run, its sentence is the report.
    if (!summary.metrics.iterations) return {};
    const thresholds = thresholdRows(summary);
    const wrong = summary.root_group.checks
      .filter(({ fails }) => fails > 0)
      .map(({ name, passes, fails }) => `not so ${fails} of ${passes + fails} times: ${name}`);
    const metrics = metricRows(summary);
    const seconds = `${(summary.state.testRunDurationMs / 1_000).toFixed(1)} s`;
    const verdict = thresholds.every(([, , , ok]) => ok === 'held') ? 'passed' : 'FAILED';
    return {
      stdout:
        `\n${textTable([thresholdTitles, ...thresholds])}\n\n${textTable([metricTitles, ...metrics])}\n\n` +
        wrong.map((line) => `${line}\n`).join('') +
        `${name} ${verdict} after ${seconds}; reports: ${out}/${name}.{html,json,md}\n`,
      [`${out}/${name}.json`]: `${JSON.stringify(summary, null, 2)}\n`,
      [`${out}/${name}.md`]:
        `# ${name}: ${verdict} after ${seconds}\n\n${markdownTable([thresholdTitles, ...thresholds])}\n` +
        `\n${markdownTable([metricTitles, ...metrics])}\n` +
        wrong.map((line) => `\n- ${line}`).join(''),
    };
  };
}

const thresholdTitles = ['threshold', 'must be', 'was', ''];
const metricTitles = ['metric', ...summaryTrendStats];

function thresholdRows({ metrics }: Summary): string[][] {
  return Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds ?? {}).map(([rule, { ok }]) => {
      const [, measure = '', bound = ''] = /^(.*?)\s*([<>=!].*)$/.exec(rule) ?? [];
      return [`${name} ${measure}`, bound, written(metric, measure), ok ? 'held' : 'BROKEN'];
    }),
  );
}

function metricRows({ metrics }: Summary): string[][] {
  return Object.entries(metrics)
    .filter(([, { type, values }]) => type === 'trend' && values.count !== 0)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, metric]) => [name, ...summaryTrendStats.map((column) => written(metric, column))]);
}

function written({ contains, values }: Metric, measure: string): string {
  const value = values[measure];
  if (value === undefined) return '-';
  if (measure === 'count') return `${value}`;
  if (measure === 'rate') return `${(value * 100).toFixed(2)} %`;
  return contains === 'time' ? `${value.toFixed(2)} ms` : value.toFixed(2);
}
