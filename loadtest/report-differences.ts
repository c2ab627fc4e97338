import { type Difference, differencePlot, differenceRows, overall } from './difference.ts';
import { htmlTable, page } from './runs/page.ts';
import { escapeXml } from './svg.ts';
import { textTable } from './table.ts';

/** The comparison of the runs `a` and `b` for the terminal, and as a page beside their folders. */
export function reportDifferences(what: string, a: string, b: string, differences: readonly Difference[]) {
  const conclusion = `${what}: B is ${overall(differences)}`;
  const rows = differenceRows(differences);
  const runs = [a, b].map(
    (id, i) => `<p>${'AB'[i]}: <a href="${encodeURIComponent(id)}/">${escapeXml(id)}</a></p>`,
  );
  const body = [
    `<h1>${escapeXml(conclusion)}</h1>`,
    ...runs,
    differencePlot(differences),
    htmlTable(rows),
    '<p>Intervals are the bootstrap’s: of whole seconds of a load, of rounds of a benchmark.</p>',
  ];
  return {
    text: `A  ${a}\nB  ${b}\n\n${textTable(rows)}\n\n${conclusion}.`,
    html: page(conclusion, body.join('\n')),
  };
}
