import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeStackPorts } from '@longhand/deploy/testing/stack-ports.ts';
import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import autocannon from 'autocannon';
import { residentMemory } from '../../machine/process-usage.ts';
import { spread, spreadTable } from '../measure.ts';
import { integer, type Result } from '../report.ts';

export const title = 'Start and memory';

const main = join(import.meta.dirname, '..', '..', '..', 'deploy', 'native', 'main.ts');
const rounds = 3;
const requests = 100_000;

export async function run(): Promise<Result[]> {
  return [await starts(), await memory()];
}

/** Seconds from the command to the first responses of both applications through the proxy. */
async function starts(): Promise<Result> {
  const empty: number[] = [];
  const used: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'longhand-bench-'));
    empty.push(await start(folder.path));
    used.push(await start(folder.path));
  }
  const title = 'The native stack, from the command until both applications respond';
  const goals = [{ text: 'seconds of a start with its data', measured: spread(used).median, atMost: 5 }];
  const runs = { 'with an empty folder': empty, 'with its data': used };
  return spreadTable({ title, unit: 'seconds', digits: 2, goals }, runs);
}

async function start(folder: string): Promise<number> {
  const { variables, urls } = await freeStackPorts();
  const started = performance.now();
  const stack = spawn(process.execPath, [main, 'up', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...variables },
  });
  const exited = once(stack, 'exit');
  try {
    for (const url of [urls.expander, urls.tasks]) {
      while (!(await fetch(url).catch(() => undefined))?.ok) {
        if (stack.exitCode !== null) throw new Error('The stack did not start.');
        await sleep(10);
      }
    }
    return (performance.now() - started) / 1_000;
  } finally {
    stack.kill('SIGTERM');
    await exited;
  }
}

/** Resident memory of each process, at rest and after many requests through the proxy. */
async function memory(): Promise<Result> {
  await using stack = await startTemporaryStack({ env: { LONGHAND_API_RATE: '9999999r/s' } });
  const megabytes = () => stack.processes.map(({ pid }) => residentMemory(pid as number) / 2 ** 20);
  const atRest = megabytes();
  for (const url of [`${stack.urls.expander}/`, `${stack.urls.expander}/api`, `${stack.urls.tasks}/`]) {
    await autocannon({ url, connections: 32, amount: Math.ceil(requests / 3) });
  }
  const after = megabytes();
  const rows = stack.processes.map(({ name }, i) => ({ name, memory: [atRest[i] ?? 0, after[i] ?? 0] }));
  return {
    title: `Resident memory in MiB, at rest and after ${integer(requests)} requests`,
    columns: ['', 'at rest', 'after'],
    rows: rows.map(({ name, memory }) => [name, ...memory.map((value) => value.toFixed(1))]),
    plot: {
      unit: 'MiB, at rest to after',
      bars: rows.map(({ name, memory }) => ({ name, ...spread(memory), median: memory[1] ?? 0 })),
    },
    goals: [],
    data: rows,
  };
}
