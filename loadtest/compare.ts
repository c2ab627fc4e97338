/** `node loadtest/compare.ts [A [B]]` prints two runs of a script side by side; by default the last two of the latest. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { k6Files } from './k6.ts';
import { program } from './program.ts';
import { compareSummaries } from './runs/comparison.ts';
import { chooseRuns, type Run, runsFolder } from './runs/run-folder.ts';

await program(async () => {
  const runs = await chooseRuns(process.argv.slice(2));
  const summary = async ({ id }: Run) =>
    JSON.parse(await readFile(join(runsFolder, id, k6Files.summary), 'utf8'));
  const [a, b] = runs;
  console.log(`A  ${a.id}\nB  ${b.id}\n\n${compareSummaries(await summary(a), await summary(b))}`);
  for (const { id, verdict } of runs) {
    if (verdict.outcome === 'busy') console.log(`The machine was busy during ${id}: do not rely on it.`);
  }
});
