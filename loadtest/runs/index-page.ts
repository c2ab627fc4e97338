import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeXml } from '../svg.ts';
import { page } from './page.ts';
import { conclusion } from './report-text.ts';
import { listRuns, type Run, runsFolder } from './run-folder.ts';

const shown = 10;

/** Writes the page that links the reports of the last ten runs. @returns its path. */
export async function writeIndex(folder = runsFolder): Promise<string> {
  const runs = (await listRuns<Run>(folder)).slice(0, shown);
  const items = runs.map(
    (run) =>
      `<li><a href="${encodeURIComponent(run.id)}/report.html"><time datetime="${run.started}">${run.started.slice(0, 16).replace('T', ' ')}</time>
${escapeXml(run.script)}</a> at ${escapeXml(run.commit)}: <span class="${run.verdict.outcome}">${escapeXml(conclusion(run))}</span></li>`,
  );
  const path = join(folder, 'index.html');
  await writeFile(
    path,
    page('Load tests', `<h1>Load tests: the last runs</h1>\n<ol>\n${items.join('\n')}\n</ol>`),
  );
  return path;
}
