import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

/** The share of pixels that may differ: rounding in another Chromium, but no word and no line. */
const tolerance = 0.001;

/** `PICTURES=write` rewrites the pictures; look at each that `git status` then names. */
const writing = process.env.PICTURES === 'write';

/** What differs from visit to visit: ports, durations, times of day, the ids of requests. */
const settle = `{
  const fixed = (text) => text
    .replace(/127\\.0\\.0\\.1:\\d+/g, '127.0.0.1:8080')
    .replace(/(under\\s)?\\b\\d+(\\.\\d+)?(\\s)(ms|s)\\b/g, '12$3ms')
    .replace(/\\b[0-9a-f]{32}\\b/g, '0123456789abcdef'.repeat(2));
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { currentNode: node } = walk;
    const text = node.parentElement.closest('time') ? node.data.replace(/\\S[^]*\\S/, '17:21') : fixed(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const input of document.querySelectorAll('input[name=u]')) input.value = fixed(input.value);
}`;

/**
 * Compares what `page` shows with the picture at `path`, which must exist.
 *
 * @returns what differs, and where to look; undefined if nothing does.
 */
export async function pictureFault(page: Page, path: string): Promise<string | undefined> {
  await page.evaluate(settle);
  const shown = await page.screenshot({ animations: 'disabled' });
  const kept = existsSync(path) ? readFileSync(path) : undefined;
  // The same Chromium writes the same bytes.
  if (kept?.equals(shown)) return undefined;
  const differing = kept ? share(PNG.sync.read(shown), PNG.sync.read(kept)) : 1;
  if (differing <= tolerance) return undefined;
  if (writing) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, shown);
    return undefined;
  }
  const seen = join(tmpdir(), `longhand-${basename(path)}`);
  writeFileSync(seen, shown);
  return `${(differing * 100).toFixed(1)} % of ${path} differ: see ${seen}; if it is better, PICTURES=write keeps it`;
}

/** The share of pixels that differ; 1 if the sizes do. */
function share(a: PNG, b: PNG): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  if (a.data.equals(b.data)) return 0;
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: 0.2 }) / (a.width * a.height);
}
