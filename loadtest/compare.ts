/** `node loadtest/compare.ts [A [B]]` compares two runs of a load script; without names the last two of the latest. */
import { join } from 'node:path';
import { k6Files } from './k6.ts';
import { program } from './program.ts';
import { reportDifferences } from './report-differences.ts';
import { compareRuns } from './runs/comparison.ts';
import { chooseRuns, type Run, runsFolder } from './runs/run-folder.ts';
import { readSamples } from './samples.ts';

await program(async () => {
  const [a, b] = await chooseRuns<Run>(process.argv.slice(2));
  const samples = ({ id }: Run) => readSamples(join(runsFolder, id, k6Files.samples));
  await reportDifferences(runsFolder, a, b, compareRuns(await samples(a), await samples(b)));
  for (const run of [a, b]) {
    if (run.verdict.outcome === 'busy')
      console.log(`The machine was busy during ${run.id}: do not rely on this.`);
  }
});
