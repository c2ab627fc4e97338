import { join } from 'node:path';
import { conclude, confidence, type Difference } from '../difference.ts';
import { bootstrap, type Interval, quantile, resample } from '../statistics.ts';
import type { Measurement, Spread } from './measure.ts';
import type { Result } from './report.ts';

/** The reports of all runs of the benchmarks, a folder each. */
export const benchFolder = join(import.meta.dirname, 'out');

export interface BenchRun {
  /** Its folder. */
  id: string;
  /** The names of the benchmarks. */
  script: string;
  machine: Record<string, string>;
  results: Record<string, Result[]>;
}

/** What is compared of each candidate, and whether more of it is better. */
const statistics: [statistic: string, of: (measurement: Measurement) => Spread, more: boolean][] = [
  ['requests/s', ({ perSecond }) => perSecond, true],
  ['p50 ms', ({ p50 }) => p50, false],
  ['p99 ms', ({ p99 }) => p99, false],
  ['CPU µs/request', ({ totalCpu }) => totalCpu, false],
];

/** Compares the rounds of the candidates that two runs have in common. */
export function compareBenchmarks(before: BenchRun, after: BenchRun): Difference[] {
  return Object.entries(after.results).flatMap(([name, results]) =>
    results.flatMap((result) => {
      const same = before.results[name]?.find(({ title }) => title === result.title);
      return same ? compareResults(same, result) : [];
    }),
  );
}

function compareResults(before: Result, after: Result): Difference[] {
  return measurements(after).flatMap((b) => {
    const a = measurements(before).find(({ name }) => name === b.name);
    if (!a) return [];
    return statistics
      .map(([statistic, of, more]) => compareRounds(b.name, statistic, of(a).rounds, of(b).rounds, more))
      .filter(({ before }) => before > 0);
  });
}

/** The candidates of a comparison; none of a benchmark of another kind. */
const measurements = ({ data }: Result): Measurement[] =>
  Array.isArray(data)
    ? data.filter((entry): entry is Measurement => Array.isArray(entry?.perSecond?.rounds))
    : [];

/** Rounds are drawn whole: within one, requests resemble each other. */
function compareRounds(
  subject: string,
  statistic: string,
  before: readonly number[],
  after: readonly number[],
  more: boolean,
): Difference {
  const median = (values: readonly number[]) =>
    quantile(
      values.toSorted((a, b) => a - b),
      0.5,
    );
  const [change] = bootstrap(confidence, (random) => [
    median(resample(after, random)) - median(resample(before, random)),
  ]);
  const difference = {
    subject,
    statistic,
    before: median(before),
    after: median(after),
    change: change as Interval,
  };
  return conclude(difference, more);
}
