/** `node loadtest/compare.ts [A [B]]` compares two runs of a load script; without names the last two of the latest. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { differencePlot, differenceRows, overall } from './difference.ts';
import { k6Files } from './k6.ts';
import { compareRuns } from './runs/comparison.ts';
import { htmlTable, page } from './runs/page.ts';
import { chooseRuns, type Run, runsFolder } from './runs/run-folder.ts';
import { readSamples } from './samples.ts';
import { escapeXml } from './svg.ts';
import { textTable } from './table.ts';

async function main(names: string[]): Promise<void> {
  const [a, b] = await chooseRuns<Run>(names);
  const samples = ({ id }: Run) => readSamples(join(runsFolder, id, k6Files.samples));
  const differences = compareRuns(await samples(a), await samples(b));
  const conclusion = `${b.script}: B is ${overall(differences)}`;
  const rows = differenceRows(differences);
  console.log(`A  ${a.id}\nB  ${b.id}\n\n${textTable(rows)}\n\n${conclusion}.`);
  for (const run of [a, b]) {
    if (run.verdict.outcome === 'busy')
      console.log(`The machine was busy during ${run.id}: do not rely on this.`);
  }
  const path = join(runsFolder, `compare-${a.id}-${b.id}.html`);
  const body = [
    `<h1>${escapeXml(conclusion)}</h1>`,
    ...[a, b].map((run, i) => `<p>${'AB'[i]}: <a href="${run.id}/report.html">${escapeXml(run.id)}</a></p>`),
    differencePlot(differences),
    htmlTable(rows),
    `<p>Intervals are the bootstrap's, of whole seconds. What changed for the control is subtracted.</p>`,
  ];
  await writeFile(path, page(conclusion, body.join('\n')));
  console.log(`Plot: ${path}`);
}

await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
