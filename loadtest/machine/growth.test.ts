import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { expect, test } from 'vitest';
import { type HoldingsSample, judgeGrowth, watchHoldings } from './growth.ts';

const MiB = 2 ** 20;

/** A process whose memory goes up and down as with a garbage collector, and grows by so much an hour. */
function soak(perHour: number, files = (_: number) => 20): HoldingsSample[] {
  const random = randomNumbers();
  return Array.from({ length: 300 }, (_, i) => {
    const saw = ((i % 20) / 20) * 30 * MiB;
    const memory = 100 * MiB + saw + random() * 5 * MiB + (perHour * i * 6) / 3_600;
    return { process: 'expander', at: i * 6, memory, files: files(i) };
  });
}

const verdict = (samples: HoldingsSample[]) =>
  Object.fromEntries(judgeGrowth(samples, 10).map(({ what, met }) => [what, met]));

/** As while caches fill in the first quarter. */
const filling = soak(0).map((sample, i) => ({ ...sample, memory: sample.memory / (i < 75 ? 2 : 1) }));

test.each<[what: string, samples: HoldingsSample[], met: Partial<ReturnType<typeof verdict>>]>([
  ['memory that goes up and down does not grow', soak(0), { memory: true, files: true }],
  ['what grows while caches fill is no leak', filling, { memory: true }],
  ['a slow leak below the sawtooth is one', soak(100 * MiB), { memory: false }],
  ['a growth that could as well be none is none', soak(20 * MiB), { memory: true }],
  ['files that stay open are a leak', soak(0, (i) => 20 + Math.floor(i / 2)), { files: false }],
])('%s', (_, samples, met) => {
  expect(verdict(samples)).toMatchObject(met);
});

test('a run of a minute is too short to tell, also that of a process that was started again', () => {
  expect(judgeGrowth(soak(100 * MiB).slice(0, 10), 10)).toEqual([]);
  expect(judgeGrowth(soak(100 * MiB).slice(-10), 10)).toEqual([]);
});

test('this process holds memory and files', () => {
  const watch = watchHoldings(
    [
      { name: 'here', pid: process.pid },
      { name: 'gone', pid: undefined },
      { name: 'ended', pid: 2 ** 22 },
    ],
    60_000,
  );
  expect(watch.stop()).toHaveLength(1);
  expect(watch.stop()[0]).toMatchObject({ process: `here ${process.pid}`, files: expect.any(Number) });
  expect(watch.stop()[0]?.memory).toBeGreaterThan(10 * MiB);
});
