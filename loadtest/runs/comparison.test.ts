import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { differencePlot, differenceRows, overall } from '../difference.ts';
import type { Sample } from '../samples.ts';
import { repeatableRandom } from '../testing/repeatable-random.ts';
import { compareRuns } from './comparison.ts';
import { chooseRuns } from './run-folder.ts';

/** Latencies with a long tail, as those of servers have; `slower` is added to those of the stack, `noise` to all. */
function samples(seed: number, { slower = 0, noise = 0, rate = 100, seconds = 30 } = {}): Sample[] {
  const random = repeatableRandom(seed);
  const latency = (least: number) => least + noise + 0.3 / (0.02 + random());
  return Array.from({ length: seconds * rate }, (_, i) => {
    const name = i % 10 === 5 ? 'control' : 'GET /';
    const value = name === 'control' ? latency(0.2) : latency(1) + slower;
    return { metric: 'http_req_duration', at: 1e12 + (i * 1_000) / rate, value, tags: { name } };
  });
}

const conclusions = (a: Sample[], b: Sample[]) =>
  Object.fromEntries(compareRuns(a, b).map(({ statistic, conclusion }) => [statistic, conclusion]));

test('two runs of the same have no measurable difference', () => {
  for (let seed = 1; seed < 9; seed += 1) {
    expect(overall(compareRuns(samples(seed), samples(seed + 100)))).toBe('no measurable difference');
  }
});

test('a run that is slower by half a millisecond is slower, and the other way round faster', () => {
  const [a, b] = [samples(1), samples(2, { slower: 0.5 })];
  expect(conclusions(a, b)['median ms']).toBe('slower');
  expect(conclusions(b, a)['median ms']).toBe('faster');
});

test('a machine that is slower is no difference: the control was as much slower', () => {
  expect(overall(compareRuns(samples(1), samples(2, { noise: 2 })))).toBe('no measurable difference');
});

test('fewer requests a second are slower', () => {
  expect(conclusions(samples(1), samples(2, { rate: 80 }))['requests/s']).toBe('slower');
});

test('a quantile of too few requests is left out', () => {
  expect(Object.keys(conclusions(samples(1), samples(2)))).not.toContain('p99.9 ms');
  expect(Object.keys(conclusions(samples(1, { seconds: 90 }), samples(2, { seconds: 90 })))).toContain(
    'p99.9 ms',
  );
});

test('a table and a plot say it', () => {
  const differences = compareRuns(samples(1), samples(2, { slower: 1 }));
  expect(differenceRows(differences)[1]).toEqual(expect.arrayContaining(['GET /', 'median ms', 'slower']));
  expect(differencePlot(differences)).toContain('GET /, median');
});

test('the last two runs of the latest script are compared, unless others are named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-runs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const id of ['1-tasks', '2-smoke', '3-tasks', '4-smoke', '5-unfinished']) {
    await mkdir(join(folder, id));
    if (id.endsWith('unfinished')) continue;
    await writeFile(join(folder, id, 'run.json'), JSON.stringify({ id, script: id.slice(2) }));
  }
  const chosen = async (...names: string[]) =>
    (await chooseRuns<{ id: string; script: string }>(names, folder)).map(({ id }) => id);
  expect(await chosen()).toEqual(['2-smoke', '4-smoke']);
  expect(await chosen('loadtest/out/1-tasks/', '3-tasks')).toEqual(['1-tasks', '3-tasks']);
  await expect(chosen('6-tasks')).rejects.toThrow('There is no run 6-tasks in');
});
