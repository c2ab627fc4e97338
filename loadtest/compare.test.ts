import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chooseRuns, compareSummaries } from './compare.ts';

test('the percentiles of two runs stand side by side', () => {
  const summary = (p99: number) => ({
    metrics: { 'http_req_duration{target:stack}': { 'p(99)': p99 }, http_reqs: { count: 100, rate: 50 } },
  });
  const compared = compareSummaries(summary(10), summary(12));
  expect(compared).toMatch(/\| http_req_duration\{target:stack\} \| +p\(99\) \| +10\.0 \| +12\.0 \|/);
  const older = { metrics: { http_reqs: { count: 100, rate: 50 } } };
  expect(compareSummaries(summary(10), older)).not.toContain('target:stack');
  expect(compared).toMatch(/\| requests a second +\| +\| +50\.0 \| +50\.0 \|/);
});

test('the last two runs of the latest script are compared, unless others are named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-runs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const id of ['1-tasks', '2-smoke', '3-tasks', '4-smoke', '5-unfinished']) {
    await mkdir(join(folder, id));
    if (id.endsWith('unfinished')) continue;
    await writeFile(join(folder, id, 'run.json'), '{}');
  }
  expect(chooseRuns([], folder)).toEqual(['2-smoke', '4-smoke']);
  expect(chooseRuns(['loadtest/out/1-tasks/', '3-tasks'], folder)).toEqual(['1-tasks', '3-tasks']);
  expect(() => chooseRuns(['6-tasks'], folder)).toThrow('There is no run 6-tasks in');
});
