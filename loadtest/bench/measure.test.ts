import { expect, test } from 'vitest';
import { cpuTime, residentMemory } from '../machine/process-usage.ts';
import { type Candidate, compare, type Measurement, spread, throughputRatio } from './measure.ts';
import { plot } from './plot.ts';
import { isMet, toMarkdown, toText } from './report.ts';

/** A candidate with the given throughput in each round, without a server. */
function candidate(name: string, perSecond: number[]): Candidate {
  let round = 0;
  return {
    name,
    processes: { here: process.pid },
    async load(seconds) {
      // Only the measured rounds last 3 s; the others are warm-up.
      const rate = seconds === 3 ? (perSecond[round++] ?? 0) : 1;
      return { requests: rate * seconds, failed: 0, seconds, p50: 1, p99: 2 };
    },
  };
}

test('candidates are measured in three rounds; the report has the median, the extremes and the ratio', async () => {
  const result = await compare({
    title: 'Three',
    candidates: [
      candidate('bare', [300, 100, 200]),
      candidate('ours', [90, 110, 100]),
      { ...candidate('other', [25, 25, 25]), ceiling: 'ours' },
    ],
    baseline: 'bare',
    goals: [{ text: 'ratio', value: throughputRatio('ours', 'bare'), atLeast: 0.6 }],
  });
  const [bare, ours] = result.data as Measurement[];
  expect(bare?.perSecond).toEqual({ median: 200, min: 100, max: 300, rounds: [300, 100, 200] });
  expect(ours?.perSecond).toEqual({ median: 100, min: 90, max: 110, rounds: [90, 110, 100] });
  // Where a candidate has a ceiling of its own, that counts instead of the baseline.
  expect(result.rows.map((row) => row[3])).toEqual(['1.00', '0.50', '0.25']);
  expect(result.goals[0]).toMatchObject({ measured: 0.5, atLeast: 0.6 });
});

test('rounds can be more and shorter', async () => {
  const lasted: number[] = [];
  const load = async (seconds: number) => {
    lasted.push(seconds);
    return { requests: 1, failed: 0, seconds, p50: 1, p99: 1 };
  };
  const rounds = { count: 2, seconds: 1 };
  const { data } = await compare({ title: 'Short', candidates: [{ name: 'ours', load }], goals: [], rounds });
  expect((data as Measurement[])[0]?.perSecond.rounds).toEqual([1, 1]);
  expect(lasted.filter((seconds) => seconds === 1)).toHaveLength(2);
});

test('a goal is met at its bound and not beyond it', () => {
  expect(isMet({ text: '', measured: 0.85, atLeast: 0.85 })).toBe(true);
  expect(isMet({ text: '', measured: 0.84, atLeast: 0.85 })).toBe(false);
  expect(isMet({ text: '', measured: 2.4, atMost: 2.4 })).toBe(true);
  expect(isMet({ text: '', measured: 2.5, atMost: 2.4 })).toBe(false);
  expect(isMet({ text: 'not measured', measured: Number.NaN, atMost: 2.4 })).toBe(false);
});

test('the median of an even number of values is the lower middle', () => {
  expect(spread([4, 1, 3, 2])).toEqual({ median: 2, min: 1, max: 4, rounds: [4, 1, 3, 2] });
});

test('CPU time grows with work, and memory is that of a running program', () => {
  const before = cpuTime(process.pid);
  while (cpuTime(process.pid) - before < 30_000);
  expect(residentMemory(process.pid)).toBeGreaterThan(10 * 2 ** 20);
});

test('reports say whether each goal is met, and a plot escapes names', () => {
  const result = {
    title: 'A <b>',
    columns: ['', 'requests/s'],
    rows: [['ours', '10']],
    plot: { unit: 'requests/s', bars: [{ name: '<script>', median: 10, min: 9, max: 11 }] },
    goals: [
      { text: 'quick', measured: 1, atLeast: 2 },
      { text: 'small', measured: 1, atMost: 2 },
    ],
    data: {},
  };
  expect(toText([result])).toContain('NOT MET: quick: 1 (goal: at least 2)');
  expect(toMarkdown('Title', [result])).toContain('- met: small: 1 (goal: at most 2)');
  expect(plot('Title', [result])).not.toMatch(/<script>|<b>/);
});
