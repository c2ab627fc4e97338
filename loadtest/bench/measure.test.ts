import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { type Candidate, cpuTime, measurePairs, toMarkdown } from './measure.ts';

const candidate = (order: string[], name: string): Candidate => ({
  pid: process.pid,
  async load(seconds) {
    // Ignore warm-up rounds, which do not last 0.02 s.
    if (seconds === 0.02) order.push(name);
    return { requests: 100, failed: 1, seconds };
  },
});

test('measurePairs() alternates between our service and the plain service', async () => {
  const order: string[] = [];
  const pair = { name: 'hot', ours: candidate(order, 'ours'), plain: candidate(order, 'plain') };
  const [row] = await measurePairs([pair], { count: 2, seconds: 0.02 });
  expect(order).toEqual(['ours', 'plain', 'plain', 'ours']);
  expect(row).toMatchObject({ name: 'hot', ours: [expect.any(Number), expect.any(Number)] });
  expect(row?.note).toMatch(/^5,000\/s, 2 FAILED; plain: 5,000\/s/);
});

test('the table shows medians and spreads', () => {
  const rows = [{ name: 'hot', ours: [60, 40, 90], plain: [30, 10, 30], note: 'seen' }];
  const section = toMarkdown({ title: 'Costs', unit: 'CPU µs', rows }, { node: 'v1' });
  expect(section).toMatch(/^## Costs\n\n_node: v1_\n\n\| +\| ours, CPU µs \| plain \|/);
  expect(section).toContain('60.0 (40.0 to 90.0) | 30.0 (10.0 to 30.0) | 3.00 (2.00 to 4.00) | seen |');
});

test('CPU time includes child processes', async () => {
  const { pid = 0 } = spawn('sh', ['-c', 'sh -c "while :; do :; done" & wait'], { detached: true });
  onTestFinished(() => void process.kill(-pid));
  await expect.poll(() => cpuTime(pid)).toBeGreaterThan(100_000);
});
