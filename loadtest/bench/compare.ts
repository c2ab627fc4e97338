/** `node loadtest/bench/compare.ts [A [B]]` compares two runs of the benchmarks; without names the last two. */
import { program } from '../program.ts';
import { reportDifferences } from '../report-differences.ts';
import { chooseRuns } from '../runs/run-folder.ts';
import { type BenchRun, benchFolder, compareBenchmarks } from './comparison.ts';

await program(async () => {
  const [a, b] = await chooseRuns<BenchRun>(process.argv.slice(2), benchFolder);
  await reportDifferences(benchFolder, a, b, compareBenchmarks(a, b));
});
