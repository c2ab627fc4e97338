/** `node loadtest/screenshot.ts [run]` takes the README's picture of a report: the named run's, or the latest. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import { listRuns, runsFolder } from './runs/run-folder.ts';

const path = join(import.meta.dirname, '..', 'docs', 'images', 'load-report.png');
/** A README loads quickly. */
const maxBytes = 80_000;

const id = process.argv[2] ?? (await listRuns())[0]?.id;
if (!id) throw new Error(`There is no run in ${runsFolder} yet: run "make load" first.`);
const browser = await launchChromium();
try {
  const page = await browser.newPage({
    viewport: { width: 820, height: 960 },
    deviceScaleFactor: 0.85,
    colorScheme: 'light',
  });
  await page.goto(pathToFileURL(join(runsFolder, id, 'report.html')).href);
  await page.screenshot({ path, caret: 'hide' });
} finally {
  await browser.close();
}
const { size } = await stat(path);
console.log(`${path}: ${size} bytes`);
if (size > maxBytes) throw new Error(`${path} has ${size} bytes, more than ${maxBytes}.`);
