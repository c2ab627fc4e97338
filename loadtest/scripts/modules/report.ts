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

/** The columns of a trend, an option of every script. */
export const summaryTrendStats = ['min', 'med', 'avg', 'p(95)', 'p(99)', 'p(99.9)', 'max', 'count'];

/** The `handleSummary` of a script: tables on the terminal, JSON and Markdown in the folder LOAD_OUT. */
export function report(name: string) {
  const out = __ENV.LOAD_OUT || 'out';
  return (summary: Summary): Record<string, string> => {
    // When `setup` aborted the run, its message is the report.
    if (!summary.metrics.iterations) return {};
    const thresholds = thresholdRows(summary);
    const tables = [
      [['threshold', 'limit', 'value', 'result'], ...thresholds],
      [['metric', ...summaryTrendStats], ...trendRows(summary)],
    ];
    const failedChecks = summary.root_group.checks
      .filter(({ fails }) => fails > 0)
      .map(({ name, passes, fails }) => `check failed ${fails} of ${passes + fails} times: ${name}`);
    const verdict = thresholds.every(([, , , result]) => result === 'passed') ? 'passed' : 'FAILED';
    const heading = `${verdict} after ${(summary.state.testRunDurationMs / 1_000).toFixed(1)} s`;
    return {
      stdout:
        tables.map((rows) => `\n${textTable(rows)}\n`).join('') +
        failedChecks.map((line) => `${line}\n`).join('') +
        `\n${name} ${heading}; reports: ${out}/${name}.{html,json,md}\n`,
      [`${out}/${name}.json`]: `${JSON.stringify(summary, null, 2)}\n`,
      [`${out}/${name}.md`]:
        `# ${name}: ${heading}\n${tables.map((rows) => `\n${markdownTable(rows)}\n`).join('')}` +
        failedChecks.map((line) => `\n- ${line}`).join(''),
    };
  };
}

function thresholdRows({ metrics }: Summary): string[][] {
  return Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds ?? {}).map(([rule, { ok }]) => {
      const [, stat = '', limit = ''] = /^(.*?)\s*([<>=!].*)$/.exec(rule) ?? [];
      return [`${name} ${stat}`, limit, formatStat(metric, stat), ok ? 'passed' : 'FAILED'];
    }),
  );
}

function trendRows({ metrics }: Summary): string[][] {
  return Object.entries(metrics)
    .filter(([, { type, values }]) => type === 'trend' && values.count !== 0)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, metric]) => [name, ...summaryTrendStats.map((stat) => formatStat(metric, stat))]);
}

function formatStat({ contains, values }: Metric, stat: string): string {
  const value = values[stat];
  if (value === undefined) return '-';
  if (stat === 'count') return `${value}`;
  if (stat === 'rate') return `${(value * 100).toFixed(2)} %`;
  return contains === 'time' ? `${value.toFixed(2)} ms` : value.toFixed(2);
}
