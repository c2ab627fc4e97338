import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStack } from '@longhand/deploy/native/stack.ts';
import { freePort } from '@longhand/shared/free-port.ts';
import autocannon from 'autocannon';
import { residentMemory } from '../cpu.ts';
import { spread } from '../measure.ts';
import type { Result } from '../report.ts';

export const title = 'Start and memory';

const root = join(import.meta.dirname, '..', '..', '..');
const rounds = 3;
const requests = 100_000;

export async function run(): Promise<Result[]> {
  return [await starts(), await memory()];
}

/** Seconds from the command to the first answers of both applications through the proxy. */
async function starts(): Promise<Result> {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'longhand-bench-'));
    cold.push(await start(folder));
    warm.push(await start(folder));
    await rm(folder, { recursive: true, force: true });
  }
  const row = (name: string, { median, min, max }: ReturnType<typeof spread>) => [
    name,
    median.toFixed(2),
    `${min.toFixed(2)} to ${max.toFixed(2)}`,
  ];
  return {
    title: 'The native stack, from the command until both applications answer',
    columns: ['', 'seconds', 'lowest to highest'],
    rows: [row('with an empty folder', spread(cold)), row('with its data', spread(warm))],
    plot: {
      unit: 'seconds',
      bars: [
        { name: 'with an empty folder', ...spread(cold) },
        { name: 'with its data', ...spread(warm) },
      ],
    },
    goals: [{ text: 'seconds of a start with its data', measured: spread(warm).median, atMost: 5 }],
    data: { cold, warm },
  };
}

async function start(folder: string): Promise<number> {
  const [all, expander, tasks] = await Promise.all([freePort(), freePort(), freePort()]);
  const started = performance.now();
  const stack = spawn(process.execPath, [join(root, 'deploy', 'native', 'main.ts'), 'up', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      LONGHAND_PORT: `${all}`,
      LONGHAND_EXPANDER_PORT: `${expander}`,
      LONGHAND_TASKS_PORT: `${tasks}`,
    },
  });
  const ended = once(stack, 'exit');
  try {
    for (const port of [expander, tasks]) {
      while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))?.ok) {
        if (stack.exitCode !== null) throw new Error('The stack did not start.');
        await sleep(10);
      }
    }
    return (performance.now() - started) / 1_000;
  } finally {
    stack.kill('SIGTERM');
    await ended;
  }
}

/** Resident memory of each process, at rest and after many requests through the proxy. */
async function memory(): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-bench-'));
  const ports = { LONGHAND_PORT: '0', LONGHAND_EXPANDER_PORT: '0', LONGHAND_TASKS_PORT: '0' };
  const env = { ...process.env, ...ports, LONGHAND_API_RATE: '9999999r/s' };
  const stack = await startStack({ folder, env, write() {} });
  try {
    const megabytes = () =>
      stack.parts.map(({ name, pid }) => ({ name, value: residentMemory(pid as number) / 2 ** 20 }));
    const atRest = megabytes();
    for (const url of [`${stack.urls.expander}/`, `${stack.urls.expander}/api`, `${stack.urls.tasks}/`]) {
      await autocannon({ url, connections: 32, amount: Math.ceil(requests / 3) });
    }
    const after = megabytes();
    return {
      title: `Resident memory in MiB, at rest and after ${requests.toLocaleString('en')} requests`,
      columns: ['', 'at rest', 'after'],
      rows: atRest.map(({ name, value }, i) => [name, value.toFixed(1), after[i]?.value.toFixed(1) ?? '']),
      plot: {
        unit: 'MiB, at rest to after',
        bars: atRest.map(({ name, value: min }, i) => {
          const max = after[i]?.value ?? min;
          return { name, median: max, min: Math.min(min, max), max: Math.max(min, max) };
        }),
      },
      goals: [],
      data: { atRest, after },
    };
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
