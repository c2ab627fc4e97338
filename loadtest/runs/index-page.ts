import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeXml } from '../svg.ts';
import { page } from './page.ts';

const shown = 10;

/** A line of an index: a run and its answer. */
export interface IndexEntry {
  /** From the folder of all runs. */
  link: string;
  title: string;
  conclusion: string;
  outcome: string;
}

/** Writes the page that links the reports of the last ten runs. @returns its path. */
export async function writeIndex(
  title: string,
  folder: string,
  latestFirst: readonly IndexEntry[],
): Promise<string> {
  const items = latestFirst.slice(0, shown).map(
    ({ link, title, conclusion, outcome }) =>
      `<li><a href="${link.split('/').map(encodeURIComponent).join('/')}">${escapeXml(title)}</a>:
<span class="${outcome}">${escapeXml(conclusion)}</span></li>`,
  );
  const path = join(folder, 'index.html');
  await writeFile(
    path,
    page(title, `<h1>${escapeXml(title)}: the last runs</h1>\n<ol>\n${items.join('\n')}\n</ol>`),
  );
  return path;
}
