/** `node loadtest/compare.ts [A [B]]` compares two runs of a load script; without names the last two of the latest. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { k6Files } from './k6.ts';
import { reportDifferences } from './report-differences.ts';
import { compareRuns } from './runs/comparison.ts';
import { chooseRuns, type Run, runsFolder } from './runs/run-folder.ts';
import { readSamples } from './samples.ts';

async function main(names: string[]): Promise<void> {
  const [a, b] = await chooseRuns<Run>(names);
  const samples = ({ id }: Run) => readSamples(join(runsFolder, id, k6Files.samples));
  const { text, html } = reportDifferences(
    b.script,
    a.id,
    b.id,
    compareRuns(await samples(a), await samples(b)),
  );
  console.log(text);
  for (const run of [a, b]) {
    if (run.verdict.outcome === 'busy')
      console.log(`The machine was busy during ${run.id}: do not rely on this.`);
  }
  const path = join(runsFolder, `compare-${a.id}-${b.id}.html`);
  await writeFile(path, html);
  console.log(`Plot: ${path}`);
}

await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
