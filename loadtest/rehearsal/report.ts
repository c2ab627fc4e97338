import { markdownTable } from '../table.ts';
import type { Result } from './rehearse.ts';

const header = [
  ...['row', 'verdict', 'requests', 'failed', 'recovery (s)', 'acknowledged', 'lost', 'alerts'],
  'what was seen',
];

/** `kept`, `BROKEN` or `not run`. */
export const verdict = ({ skipped, broken }: Result): string =>
  skipped ? 'not run' : broken.length > 0 ? 'BROKEN' : 'kept';

function cells(result: Result): string[] {
  const { fault, skipped, broken, notes, requests, failed, failures, recovery, ledger, alerts } = result;
  if (skipped) return [fault.id, 'not run', '', '', '', '', '', '', skipped];
  const seen = [...broken, ...notes, ...(failures ? [`failed: ${failures}`] : [])];
  return [
    ...[fault.id, verdict(result), `${requests}`, `${failed}`, recovery.toFixed(1), `${ledger.acknowledged}`],
    ...[
      `${ledger.lost.length}`,
      alerts.join(', ') || '-',
      [...new Set(seen)].join('; ').replaceAll('|', '\\|'),
    ],
  ];
}

/** One line for the terminal. */
export function line(result: Result): string {
  const [id = '', judged = '', , failed, recovery, acknowledged, lost, , seen] = cells(result);
  if (result.skipped) return `${judged.padEnd(8)} ${id.padEnd(26)} ${seen}`;
  const figures = `${failed} failed, ${recovery} s, ${acknowledged} writes, ${lost} lost`;
  return `${judged.padEnd(8)} ${id.padEnd(26)} ${figures}${seen ? `; ${seen}` : ''}`;
}

/** The report of a rehearsal in Markdown. */
export function markdown(title: string, results: readonly Result[]): string {
  return `# ${title}\n\n${markdownTable([header, ...results.map(cells)])}\n`;
}

const escaped = (text: string) =>
  text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '');

/** The same as a page. */
export function html(title: string, results: readonly Result[]): string {
  const row = (result: Result) => {
    const [id = '', ...rest] = cells(result);
    const { fault, promise } = result.fault;
    const about = `<th scope="row"><b>${id}</b><br>${escaped(fault)}<br><i>${escaped(promise)}</i></th>`;
    return `<tr class="${verdict(result).replace(' ', '-')}">${about}${rest
      .map((cell) => `<td>${escaped(cell)}</td>`)
      .join('')}</tr>`;
  };
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.4 system-ui, sans-serif }
  main { overflow-x: auto }
  table { border-collapse: collapse }
  th, td { padding: .4rem .6rem; border-top: 1px solid; text-align: left; vertical-align: top; font-weight: normal }
  .BROKEN td:nth-child(2) { font-weight: bold; color: light-dark(#b00, #f88) }
</style>
<main>
<h1>${escaped(title)}</h1>
<table>
<thead><tr>${header.map((cell) => `<th scope="col">${cell}</th>`).join('')}</tr></thead>
<tbody>
${results.map(row).join('\n')}
</tbody>
</table>
</main>
</html>
`;
}
