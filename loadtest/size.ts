/**
 * `node loadtest/size.ts --rate 20000 [--hits 0.9] [--list 0] [--writes 0]`: what a load needs, from capacity.json, also
 * as a patch of deploy/kubernetes.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Capacity, sizeFor } from './capacity/model.ts';
import { program } from './program.ts';
import { runsFolder } from './runs/run-folder.ts';
import { kustomizePatch } from './sizing/kustomize.ts';
import { textTable } from './table.ts';

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { rate: text, hits: text, list: text, writes: text } });
  const rate = number('RATE', values.rate, Number.POSITIVE_INFINITY);
  const [hits, list, writes] = [
    number('HITS', values.hits || '0.9', 1),
    number('LIST', values.list || '0', 1),
    number('WRITES', values.writes || '0', 1),
  ];
  const links = 1 - list - writes;
  if (links < 0) throw new Error(`LIST=${list} and WRITES=${writes} are more than all requests.`);
  const capacity = await readCapacity();
  const mix = { hot: links * hits, cold: links * (1 - hits), list, writes };
  const needs = sizeFor(capacity, mix, rate);
  const rows = needs.map(({ part, count, cores, memory, sockets, note }) => [
    part,
    part === 'proxy' ? `1 with ${count} workers` : `${count}`,
    cores.toFixed(2),
    `${Math.ceil(memory / 2 ** 20)} MiB`,
    `${sockets}`,
    note,
  ]);
  const sum = (of: 'cores' | 'memory') => needs.reduce((total, need) => total + need[of], 0);
  console.log(
    `${textTable([['', 'replicas', 'cores', 'memory', 'sockets', ''], ...rows])}\n\n` +
      `${rate} requests/s (${share(mix.hot)} hot links, ${share(mix.cold)} cold, ${share(list)} list, ${share(writes)} writes) ` +
      `need ${sum('cores').toFixed(1)} cores like ${capacity.machine.processor} and ` +
      `${Math.ceil(sum('memory') / 2 ** 20)} MiB. Replicas are for 70 % of a core each. Measured ${capacity.taken}.\n\n${kustomizePatch(needs)}`,
  );
}

const share = (value: number) => `${Math.round(value * 1_000) / 10} %`;

async function readCapacity(): Promise<Capacity> {
  const file = join(runsFolder, 'capacity.json');
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    throw new Error(`There is no ${file} yet: run "make capacity" first.`);
  }
}

function number(name: string, text: string | undefined, max: number): number {
  const value = Number(text || Number.NaN);
  if (value >= 0 && value <= max) return value;
  throw new Error(
    `${name}=${text ?? ''}: is not a number${max === 1 ? ' from 0 to 1' : ''}; as in: make size RATE=20000 HITS=0.9`,
  );
}

await program(main);
