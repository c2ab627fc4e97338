import { expect, test } from 'vitest';
import { cpuTime, residentMemory } from './cpu.ts';
import { type Contender, compare, type Measured, spread } from './measure.ts';
import { plot } from './plot.ts';
import { holds, markdown, text } from './report.ts';

/** A contender that comes to so many requests a second, round by round, without a server. */
function contender(name: string, perSecond: number[]): Contender {
  let round = 0;
  return {
    name,
    processes: { here: process.pid },
    async load(seconds) {
      // Loads of other lengths are there to warm up.
      const rate = seconds === 3 ? (perSecond[round++] ?? 0) : 1;
      return { requests: rate * seconds, failed: 0, seconds, p50: 1, p99: 2 };
    },
  };
}

test('contenders are measured in three rounds; the median, the extremes and the ratio are told', async () => {
  const result = await compare({
    title: 'Two',
    contenders: [contender('bare', [300, 100, 200]), contender('ours', [90, 110, 100])],
    reference: 'bare',
    goals: [
      {
        text: 'share',
        value: (of) => of('ours').perSecond.median / of('bare').perSecond.median,
        atLeast: 0.6,
      },
    ],
  });
  const [bare, ours] = result.data as Measured[];
  expect(bare?.perSecond).toEqual({ median: 200, min: 100, max: 300 });
  expect(ours?.perSecond).toEqual({ median: 100, min: 90, max: 110 });
  expect(result.rows[1]?.[3]).toBe('0.50');
  expect(result.goals[0]).toMatchObject({ measured: 0.5, atLeast: 0.6 });
});

test('a goal is met on its bound and not beyond it', () => {
  expect(holds({ text: '', measured: 0.85, atLeast: 0.85 })).toBe(true);
  expect(holds({ text: '', measured: 0.84, atLeast: 0.85 })).toBe(false);
  expect(holds({ text: '', measured: 2.4, atMost: 2.4 })).toBe(true);
  expect(holds({ text: '', measured: 2.5, atMost: 2.4 })).toBe(false);
  // What could not be measured is no success.
  expect(holds({ text: '', measured: Number.NaN, atMost: 2.4 })).toBe(false);
});

test('the median of an even number is the lower middle', () => {
  expect(spread([4, 1, 3, 2])).toEqual({ median: 2, min: 1, max: 4 });
});

test('CPU time grows with work, and memory is that of a running program', () => {
  const before = cpuTime(process.pid);
  while (cpuTime(process.pid) - before < 30_000);
  expect(residentMemory(process.pid)).toBeGreaterThan(10 * 2 ** 20);
});

test('reports say of each goal whether it is met, and a plot holds no markup of a name', () => {
  const result = {
    title: 'A <b>',
    columns: ['', 'a second'],
    rows: [['ours', '10']],
    plot: { unit: 'a second', bars: [{ name: '<script>', median: 10, min: 9, max: 11 }] },
    goals: [
      { text: 'quick', measured: 1, atLeast: 2 },
      { text: 'small', measured: 1, atMost: 2 },
    ],
    data: {},
  };
  expect(text([result])).toContain('NOT MET: quick: 1 (goal: at least 2)');
  expect(markdown('Title', [result])).toContain('- met: small: 1 (goal: at most 2)');
  expect(plot('Title', [result])).not.toMatch(/<script>|<b>/);
});
