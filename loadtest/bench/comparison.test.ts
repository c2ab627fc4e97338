import { expect, test } from 'vitest';
import { type BenchRun, compareBenchmarks } from './comparison.ts';
import { spread } from './measure.ts';

const run = (perSecond: number[]): BenchRun => ({
  id: '',
  script: 'proxy',
  machine: {},
  results: {
    proxy: [
      {
        title: 'The shortest response',
        columns: [],
        rows: [],
        plot: { unit: 'requests/s', bars: [] },
        goals: [],
        data: [
          {
            name: 'ours',
            perSecond: spread(perSecond),
            p50: spread([1, 1.01, 1.02]),
            p99: spread([3, 5, 4]),
            totalCpu: spread([20, 21, 20]),
          },
        ],
      },
    ],
  },
});

const conclusions = (a: BenchRun, b: BenchRun) =>
  Object.fromEntries(compareBenchmarks(a, b).map(({ statistic, conclusion }) => [statistic, conclusion]));

test('rounds that overlap have no measurable difference', () => {
  const found = conclusions(run([100, 120, 110]), run([105, 115, 125]));
  expect(new Set(Object.values(found))).toEqual(new Set(['no measurable difference']));
});

test('rounds that are all apart do, and more requests a second are faster', () => {
  expect(conclusions(run([100, 120, 110]), run([150, 160, 155]))['requests/s']).toBe('faster');
  expect(conclusions(run([150, 160, 155]), run([100, 120, 110]))['requests/s']).toBe('slower');
});

test('what only one of them measured is left out', () => {
  expect(compareBenchmarks({ ...run([1, 2, 3]), results: {} }, run([1, 2, 3]))).toEqual([]);
});
