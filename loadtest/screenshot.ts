/** `node loadtest/screenshot.ts [run]` takes the README's picture of a report: the named run's, or the latest. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchChromium } from '@longhand/shared/testing/chromium.ts';
import { takePicture } from '@longhand/shared/testing/picture.ts';
import { listRuns, runsFolder } from './runs/run-folder.ts';

const path = join(import.meta.dirname, '..', 'docs', 'images', 'load-report.png');
const id = process.argv[2] ?? (await listRuns())[0]?.id;
if (!id) throw new Error(`There is no run in ${runsFolder} yet: run "make load" first.`);
await using browser = await launchChromium();
const url = pathToFileURL(join(runsFolder, id, 'report.html')).href;
await takePicture(browser, url, path, { width: 820, height: 960, scale: 0.85, maxBytes: 80_000 });
