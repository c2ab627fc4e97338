import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { expect, test } from 'vitest';
import { judgeGrowth, watchHoldings } from './growth.ts';

/** Ten minutes of memory that goes up and down as with a garbage collector, and grows by so much an hour. */
function memory(perHour: number): number[] {
  const random = randomNumbers();
  return Array.from({ length: 300 }, (_, i) => {
    const saw = ((i % 20) / 20) * 30;
    return 100 + saw + random() * 5 + (perHour * i * 6) / 3_600;
  });
}

const judged = (values: number[], smallest = 4) => judgeGrowth([{ metric: 'it', values, smallest }], 10);

/** As while caches fill in the first quarter. */
const filling = memory(0).map((value, i) => value / (i < 75 ? 2 : 1));
const files = (more: number) => Array.from({ length: 300 }, (_, i) => 20 + Math.floor(i * more));

test.each<[what: string, values: number[], smallest: number, met: boolean]>([
  ['memory that goes up and down does not grow', memory(0), 4, true],
  ['what grows while caches fill is no leak', filling, 4, true],
  ['a slow leak below the sawtooth is one', memory(100), 4, false],
  ['a growth that could as well be none is none', memory(20), 4, true],
  ['files that are closed again do not grow', files(0), 64, true],
  ['files that stay open are a leak', files(0.5), 64, false],
])('%s', (_, values, smallest, met) => {
  expect(judged(values, smallest)).toMatchObject([{ metric: 'it', met }]);
});

test('a run of a minute is too short to tell, also that of a process that was started again', () => {
  expect(judged(memory(100).slice(0, 30))).toEqual([]);
});

test('this process holds memory and files', () => {
  const watch = watchHoldings([
    { name: 'here', pid: process.pid },
    { name: 'gone', pid: undefined },
    { name: 'ended', pid: 2 ** 22 },
  ]);
  const holdings = watch.stop().filter(({ values }) => values.length > 0);
  const here = `of here ${process.pid}`;
  expect(holdings.map(({ metric }) => metric)).toEqual([`MiB of memory ${here}`, `open files ${here}`]);
  expect(holdings[0]?.values[0]).toBeGreaterThan(10);
});
