import { type Difference, differencePlot, differenceRows, overall } from './difference.ts';
import { htmlTable, page } from './runs/page.ts';
import { escapeXml } from './svg.ts';
import { textTable } from './table.ts';

const note =
  'Intervals are the bootstrap’s: of whole seconds of a load, less what changed for its control; of rounds of a benchmark.';

/** The comparison of the runs `a` and `b` for the terminal, and as a page beside their folders. */
export function reportDifferences(what: string, a: string, b: string, differences: readonly Difference[]) {
  const answer = overall(differences);
  const conclusion = `${what}: ${answer === 'no measurable difference' ? answer : `B is ${answer}`}`;
  const rows = differenceRows(differences);
  const runs = [a, b].map(
    (id, i) => `<p>${'AB'[i]}: <a href="${encodeURIComponent(id)}/">${escapeXml(id)}</a></p>`,
  );
  const body = [
    `<h1>${escapeXml(conclusion)}</h1>`,
    ...runs,
    differencePlot(differences),
    htmlTable(rows),
    `<p>${note}</p>`,
  ];
  return {
    text: `A  ${a}\nB  ${b}\n\n${textTable(rows)}\n${note}\n\n${conclusion}.`,
    html: page(conclusion, body.join('\n')),
  };
}
