import { page } from '../runs/page.ts';
import { escapeXml } from '../svg.ts';
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

const style = `<style>
  th, td { white-space: normal; text-align: left; vertical-align: top; font-weight: normal; }
  .BROKEN td:nth-child(2) { font-weight: bold; color: light-dark(#b00, #f88); }
</style>`;

/** The same as a page. */
export function html(title: string, results: readonly Result[]): string {
  const rows = results.map((result) => {
    const [id = '', ...rest] = cells(result).map(escapeXml);
    const { fault, promise } = result.fault;
    const about = `<b>${id}</b><br>${escapeXml(fault)}<br><i>${escapeXml(promise)}</i>`;
    return `<tr class="${verdict(result)}"><th scope="row">${about}</th><td>${rest.join('</td><td>')}</td></tr>`;
  });
  const head = `<tr><th scope="col">${header.join('</th><th scope="col">')}</th></tr>`;
  const table = `<table>\n<thead>${head}</thead>\n<tbody>\n${rows.join('\n')}\n</tbody>\n</table>`;
  return page(title, `${style}\n<h1>${escapeXml(title)}</h1>\n<div class="wide">${table}</div>`);
}
