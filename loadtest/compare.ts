import type { K6Summary } from './verdict.ts';

interface Row {
  metric: string;
  /** Medians in ms. */
  before: number;
  after: number;
}

/** Returns the medians of all latencies that both runs measured. */
export function compareMedians(before: K6Summary, after: K6Summary): Row[] {
  return Object.entries(after.metrics).flatMap(([metric, { med: now }]) => {
    const former = before.metrics[metric]?.med;
    return former === undefined || now === undefined ? [] : [{ metric, before: former, after: now }];
  });
}

/** Returns the rows as text: one line per metric, with both medians and their ratio. */
export function asTable(rows: readonly Row[]): string {
  const cells = rows.map(({ metric, before, after }) => [
    before.toFixed(2),
    after.toFixed(2),
    before > 0 ? (after / before).toFixed(2) : '-',
    metric,
  ]);
  return [['before', 'now', 'ratio', 'median (ms)'], ...cells]
    .map(([before = '', now = '', ratio = '', metric = '']) =>
      [before.padStart(9), now.padStart(9), ratio.padStart(7), metric].join('  '),
    )
    .join('\n');
}
