import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Difference, differencePlot, differenceRows, overall } from './difference.ts';
import { htmlTable, page } from './runs/page.ts';
import { escapeXml } from './svg.ts';
import { textTable } from './table.ts';

const note =
  'Intervals are the bootstrap’s: of whole seconds of a load, less what changed for its control; of rounds of a benchmark.';

interface Compared {
  /** Its folder. */
  id: string;
  script: string;
}

/** Prints the comparison of two runs, and writes it as a page beside their folders in `folder`. */
export async function reportDifferences(
  folder: string,
  a: Compared,
  b: Compared,
  differences: readonly Difference[],
): Promise<void> {
  const answer = overall(differences);
  const conclusion = `${b.script}: ${answer === 'no measurable difference' ? answer : `B is ${answer}`}`;
  const rows = differenceRows(differences);
  const runs = [a, b].map(
    ({ id }, i) => `<p>${'AB'[i]}: <a href="${encodeURIComponent(id)}/">${escapeXml(id)}</a></p>`,
  );
  const body = [
    `<h1>${escapeXml(conclusion)}</h1>`,
    ...runs,
    differencePlot(differences),
    htmlTable(rows),
    `<p>${note}</p>`,
  ];
  const path = join(folder, `compare-${a.id}-${b.id}.html`);
  await writeFile(path, page(conclusion, body.join('\n')));
  console.log(`A  ${a.id}\nB  ${b.id}\n\n${textTable(rows)}\n${note}\n\n${conclusion}.\nPlot: ${path}`);
}
