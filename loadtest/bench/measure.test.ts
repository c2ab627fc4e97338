import { expect, test } from 'vitest';
import { cpuTime, residentMemory } from '../machine/process-usage.ts';
import { type Candidate, measurePairs, toMarkdown } from './measure.ts';

const candidate = (order: string[], name: string): Candidate => ({
  pid: process.pid,
  async load(seconds) {
    // Only the measured rounds last 0.02 s; the others are warm-up.
    if (seconds === 0.02) order.push(name);
    return { requests: 100, failed: 1, seconds };
  },
});

test('ours and the plain are measured in turn, in every other round the other way', async () => {
  const order: string[] = [];
  const pair = { name: 'hot', ours: candidate(order, 'ours'), plain: candidate(order, 'plain') };
  const [row] = await measurePairs([pair], { count: 2, seconds: 0.02 });
  expect(order).toEqual(['ours', 'plain', 'plain', 'ours']);
  expect(row).toMatchObject({ name: 'hot', ours: [expect.any(Number), expect.any(Number)] });
  expect(row?.note).toMatch(/^5,000\/s, 2 FAILED; plain: 5,000\/s/);
});

test('a table has medians with their spread; a ratio is that of two neighbours', () => {
  const rows = [{ name: 'hot', ours: [60, 40, 90], plain: [30, 10, 30], note: 'seen' }];
  const section = toMarkdown({ title: 'Costs', unit: 'CPU µs', rows }, { node: 'v1' });
  expect(section).toMatch(/^## Costs\n\n_node: v1_\n\n\| +\| +ours, CPU µs \| +plain \|/);
  expect(section).toContain('60.0 (40.0 to 90.0) | 30.0 (10.0 to 30.0) | 3.00 (2.00 to 4.00) | seen |');
});

test('CPU time grows with work, and memory is that of a running program', () => {
  const before = cpuTime(process.pid);
  while (cpuTime(process.pid) - before < 30_000);
  expect(residentMemory(process.pid)).toBeGreaterThan(10 * 2 ** 20);
});
