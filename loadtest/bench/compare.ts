/** `node loadtest/bench/compare.ts [A [B]]` compares two runs of the benchmarks; without names the last two. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reportDifferences } from '../report-differences.ts';
import { chooseRuns } from '../runs/run-folder.ts';
import { type BenchRun, benchFolder, compareBenchmarks } from './comparison.ts';

async function main(names: string[]): Promise<void> {
  const [a, b] = await chooseRuns<BenchRun>(names, benchFolder);
  const { text, html } = reportDifferences(b.script, a.id, b.id, compareBenchmarks(a, b));
  const path = join(benchFolder, `compare-${a.id}-${b.id}.html`);
  await writeFile(path, html);
  console.log(`${text}\nPlot: ${path}`);
}

await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
