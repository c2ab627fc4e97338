import { expect, test } from 'vitest';
import { blockQuantiles, bootstrap, fitLine, mean, quantile, resample } from './statistics.ts';
import { repeatableRandom } from './testing/repeatable-random.ts';

test('a quantile lies between two values as k6 has it', () => {
  expect([0, 0.5, 0.9, 1].map((p) => quantile([1, 2, 3, 4], p))).toEqual([1, 2.5, 3.7, 4]);
  expect(quantile([], 0.5)).toBeNaN();
});

test('quantiles of weighted blocks are those of their values', () => {
  const of = blockQuantiles([[1, 5], [2], [9, 9, 9]]);
  expect(of([1, 1, 0], [0, 0.5, 1])).toEqual([1, 2, 5]);
  expect(of([0, 3, 1], [0, 0.5, 1])).toEqual([2, 2, 9]);
});

test('an interval of 95 % holds the true mean about that often', () => {
  const random = repeatableRandom(7);
  const trials = Array.from({ length: 200 }, () => {
    const values = Array.from({ length: 60 }, random);
    const [interval] = bootstrap(0.95, (again) => [mean(resample(values, again))]);
    return interval && interval.low < 0.5 && interval.high > 0.5;
  });
  const share = trials.filter(Boolean).length / trials.length;
  expect(share).toBeGreaterThan(0.88);
  expect(share).toBeLessThan(0.99);
});

test('the same data have the same interval', () => {
  const interval = () => bootstrap(0.99, (random) => [mean(resample([1, 2, 4, 8], random))]);
  expect(interval()).toEqual(interval());
});

test('a line through points on a line is that line', () => {
  const { slope, start } = fitLine([0, 1, 2, 5].map((x) => [x, 3 * x + 1]));
  expect([slope, start]).toEqual([expect.closeTo(3), expect.closeTo(1)]);
});
