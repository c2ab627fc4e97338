/** `node loadtest/compare.ts [A [B]]` prints two runs of a script side by side; by default the last two of the latest. */
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { k6Files, runsFolder } from './k6.ts';
import { program } from './program.ts';
import { table } from './table.ts';
import type { K6Summary } from './verdict.ts';

/**
 * The ids of the two runs to compare: those that are named, by their folder or its path, or the latest two of the latest
 * script.
 *
 * @throws Error that says which run is missing.
 */
export function chooseRuns(names: readonly string[], folder = runsFolder): [string, string] {
  const isFinished = (id: string) => existsSync(join(folder, id, k6Files.run));
  const ids = existsSync(folder) ? readdirSync(folder).filter(isFinished).toSorted().reverse() : [];
  const named = names.map((name) => basename(name));
  const missing = named.find((id) => !ids.includes(id));
  if (missing)
    throw new Error(`There is no run ${missing} in ${folder}; there are ${ids.join(', ') || 'none'}.`);
  const script = (id: string) => id.split('-').at(-1);
  const after = named[1] ?? ids[0];
  const before = named[0] ?? ids.slice(1).find((id) => script(id) === script(after ?? ''));
  if (after && before) return [before, after];
  throw new Error(`There are no two runs of the same script in ${folder} to compare.`);
}

const statistics = ['med', 'p(95)', 'p(99)', 'p(99.9)'];

/** The latencies of two runs side by side, in milliseconds, the control's too. */
export function compareSummaries(a: K6Summary, b: K6Summary): string {
  const isLatency = /^http_req_duration(\{.*target:.*\})?$/;
  const common = Object.keys(a.metrics).filter((metric) => isLatency.test(metric) && b.metrics[metric]);
  const values = (metric: string, statistic: string) =>
    [a, b].map(({ metrics }) => metrics[metric]?.[statistic]?.toPrecision(3) ?? '');
  const rows = common
    .toSorted()
    .flatMap((metric) => statistics.map((statistic) => [metric, statistic, ...values(metric, statistic)]));
  return table([['', 'ms', 'A', 'B'], ...rows, ['requests a second', '', ...values('http_reqs', 'rate')]]);
}

async function main(): Promise<void> {
  const [a, b] = chooseRuns(process.argv.slice(2));
  const read = async (id: string, file: string) =>
    JSON.parse(await readFile(join(runsFolder, id, file), 'utf8'));
  const [summaryA, summaryB] = [await read(a, k6Files.summary), await read(b, k6Files.summary)];
  console.log(`A  ${a}\nB  ${b}\n\n${compareSummaries(summaryA, summaryB)}`);
  for (const id of [a, b]) {
    const { outcome } = await read(id, k6Files.run);
    if (outcome === 'busy') console.log(`The machine was busy during ${id}: do not rely on it.`);
  }
}

if (import.meta.main) await program(main);
