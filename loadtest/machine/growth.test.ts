import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { expect, test } from 'vitest';
import { leaks, watchHoldings } from './growth.ts';

/** Ten minutes of memory that goes up and down as with a garbage collector, and grows by so much an hour. */
function memory(perHour: number): number[] {
  const random = randomNumbers();
  return Array.from({ length: 300 }, (_, i) => {
    const saw = ((i % 20) / 20) * 30;
    return 100 + saw + random() * 5 + (perHour * i * 6) / 3_600;
  });
}

const found = (values: number[], smallest = 4) => leaks([{ what: 'it', values, smallest }], 10).length;

/** As while caches fill in the first quarter. */
const filling = memory(0).map((value, i) => value / (i < 75 ? 2 : 1));
const files = (more: number) => Array.from({ length: 300 }, (_, i) => 20 + Math.floor(i * more));

test.each<[what: string, values: number[], smallest: number, leaks: number]>([
  ['memory that goes up and down does not grow', memory(0), 4, 0],
  ['what grows while caches fill is no leak', filling, 4, 0],
  ['a slow leak below the sawtooth is one', memory(100), 4, 1],
  ['a growth that could as well be none is none', memory(20), 4, 0],
  ['files that are closed again do not grow', files(0), 64, 0],
  ['files that stay open are a leak', files(0.5), 64, 1],
  ['a few more files are none, however few there were', files(0.1), 64, 0],
  ['memory that shrinks is none', memory(-100), 4, 0],
])('%s', (_, values, smallest, leaks) => {
  expect(found(values, smallest)).toBe(leaks);
});

test('a run of a minute is too short to tell, also that of a process that was started again', () => {
  expect(found(memory(100).slice(0, 30))).toBe(0);
});

test('this process holds memory and files', () => {
  const watch = watchHoldings([
    { name: 'here', pid: process.pid },
    { name: 'gone', pid: undefined },
    { name: 'ended', pid: 2 ** 22 },
  ]);
  const holdings = watch.stop().filter(({ values }) => values.length > 0);
  const here = `of here ${process.pid}`;
  expect(holdings.map(({ what }) => what)).toEqual([`MiB of memory ${here}`, `open files ${here}`]);
  expect(holdings[0]?.values[0]).toBeGreaterThan(10);
});
