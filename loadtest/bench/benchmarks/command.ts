import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { spread, spreadTable } from '../measure.ts';
import { integer, type Result } from '../report.ts';
import { startWorker } from '../worker.ts';

export const title = 'Command: longhand-expand against curl';

const root = join(import.meta.dirname, '..', '..', '..');
const command = join(root, 'expander', 'package', 'out', 'longhand-expand.js');
/** Redirects of each link; each takes one request more to see its end. */
const redirects = 3;
const requests = redirects + 1;
const inFlight = '50';

export async function run(): Promise<Result[]> {
  await usage([process.execPath, join(root, 'expander', 'package', 'build.ts')]);
  return [await against(5_000, 5), await against(100_000, 1), await startUp()];
}

/** Seconds that a program took: by the clock, and of CPU time. */
interface Usage {
  seconds: number;
  cpu: number;
}

/**
 * Runs a program to its end, with `input` as its standard input; its output is discarded.
 *
 * @throws Error if it does not say `expected`.
 */
async function usage(program: string[], input?: string, expected = ''): Promise<Usage> {
  const file = input === undefined ? undefined : await open(input);
  const child = spawn('bash', ['-c', 'TIMEFORMAT="%R %U %S"; time "$@"', 'bash', ...program], {
    stdio: [file?.fd ?? 'ignore', 'ignore', 'pipe'],
    env: { ...process.env, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
  const exited = once(child, 'exit');
  const said = await text(child.stderr as Readable);
  await exited;
  await file?.close();
  if (!said.includes(expected)) throw new Error(`${program.join(' ')} did not say "${expected}": ${said}`);
  const last = said.trim().split('\n').at(-1) ?? '';
  const [seconds = Number.NaN, user = Number.NaN, system = Number.NaN] = last.split(' ').map(Number);
  return { seconds, cpu: user + system };
}

async function against(links: number, rounds: number): Promise<Result> {
  await using shortener = await startWorker('shortener.ts');
  await using folder = await mkdtempDisposable(join(tmpdir(), 'longhand-bench-'));
  const samples = { curl: [] as Usage[], 'longhand-expand': [] as Usage[] };
  for (let round = 0; round < rounds; round += 1) {
    const path = `${shortener.url}/chain/${redirects}`;
    const urls = Array.from({ length: links }, (_, i) => `${path}?id=${links}-${round}-${i}`);
    const [list, config] = [join(folder.path, 'urls.txt'), join(folder.path, 'curl.txt')];
    await writeFile(list, `${urls.join('\n')}\n`);
    await writeFile(config, urls.map((url) => `url = "${url}"\n`).join(''));
    const format = '%{url_effective} %{num_redirects}\n';
    const curl = ['curl', '--parallel', '--parallel-max', inFlight, '-sIL', '-w', format, '-K', config];
    samples.curl.push(await usage(curl));
    const ours = [process.execPath, command, `--concurrency=${inFlight}`];
    samples['longhand-expand'].push(await usage(ours, list, `${links} processed, 0 failed`));
  }
  const rows = Object.entries(samples).map(([name, runs]) => ({
    name,
    perSecond: spread(runs.map(({ seconds }) => links / seconds)),
    cpu: spread(runs.map(({ cpu }) => (cpu / links / requests) * 1e6)),
  }));
  const of = (name: string) => rows.find((row) => row.name === name);
  const ratio = (value: 'perSecond' | 'cpu') =>
    (of('longhand-expand')?.[value].median ?? Number.NaN) / (of('curl')?.[value].median ?? Number.NaN);
  return {
    title: `${integer(links)} links with ${redirects} redirects each, ${inFlight} at a time`,
    columns: ['', 'links/s', 'lowest to highest', 'CPU µs/hop', 'lowest to highest'],
    rows: rows.map(({ name, perSecond, cpu }) => [
      name,
      integer(perSecond.median),
      `${integer(perSecond.min)} to ${integer(perSecond.max)}`,
      cpu.median.toFixed(1),
      `${cpu.min.toFixed(1)} to ${cpu.max.toFixed(1)}`,
    ]),
    plot: { unit: 'links/s', bars: rows.map(({ name, perSecond }) => ({ name, ...perSecond })) },
    goals: [
      { text: 'throughput against curl', measured: ratio('perSecond'), atLeast: 1 },
      { text: 'CPU per hop against curl', measured: ratio('cpu'), atMost: 1 },
    ],
    data: samples,
  };
}

/** Seconds of a command that has nothing to wait for. */
async function startUp(): Promise<Result> {
  const programs = {
    'node -e 0': [process.execPath, '-e', '0'],
    'longhand-expand http://10.0.0.1/': [process.execPath, command, 'http://10.0.0.1/'],
  };
  const runs: Record<string, number[]> = {};
  for (const [name, program] of Object.entries(programs)) {
    const seconds: number[] = [];
    for (let i = 0; i < 15; i += 1) seconds.push((await usage(program)).seconds);
    runs[name] = seconds;
  }
  const [bare = Number.NaN, ours = Number.NaN] = Object.values(runs).map((seconds) => spread(seconds).median);
  const goals = [{ text: 'seconds more than Node alone', measured: ours - bare, atMost: 0.15 }];
  return spreadTable({ title: 'Start-up: one URL that is refused', unit: 'seconds', digits: 3, goals }, runs);
}
