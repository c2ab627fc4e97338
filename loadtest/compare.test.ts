import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chooseRuns, compareSummaries } from './compare.ts';
import type { K6Summary } from './runs/verdict.ts';

test('the percentiles of two runs stand side by side, with what the control needed', () => {
  const summary = (stack: number, control: number) =>
    ({
      metrics: {
        http_req_duration: { count: 1, med: 9, 'p(95)': 9, 'p(99)': 9, 'p(99.9)': 9 },
        'http_req_duration{kind:hit,target:stack}': { count: 1, med: 1, 'p(99)': stack },
        'http_req_duration{kind:hit,target:control}': { count: 1, med: 0.5, 'p(99)': control },
        http_reqs: { count: 100, rate: 50 },
      },
    }) as unknown as K6Summary;
  const lines = compareSummaries(summary(10, 2), summary(12, 3))
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .filter(Boolean),
    );
  expect(lines).toContainEqual([
    'http_req_duration{kind:hit,target:stack}',
    ...['p(99)', '10.0', '12.0', '2.00', '3.00'],
  ]);
  expect(lines).toContainEqual(['http_req_duration', 'p(99.9)', '9.00', '9.00']);
  expect(lines).toContainEqual(['requests a second', '50.0', '50.0']);
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
