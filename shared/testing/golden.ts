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
  const taken = PNG.sync.read(await page.screenshot({ animations: 'disabled' }));
  const shown = taken.width > 800 ? halved(taken) : taken;
  // Sixteen levels of each colour are enough to see, and half the bytes.
  for (let i = 0; i < shown.data.length; i += 1) shown.data[i] = Number(shown.data[i]) & 0xf0;
  if (writing) {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path) && share(shown, PNG.sync.read(readFileSync(path))) <= tolerance) return undefined;
    writeFileSync(path, PNG.sync.write(shown, { colorType: 2, deflateLevel: 9 }));
    return undefined;
  }
  const differing = existsSync(path) ? share(shown, PNG.sync.read(readFileSync(path))) : 1;
  if (differing <= tolerance) return undefined;
  const seen = join(tmpdir(), `longhand-${basename(path)}`);
  writeFileSync(seen, PNG.sync.write(shown));
  return `${(differing * 100).toFixed(1)} % of ${path} differ: see ${seen}; if it is better, PICTURES=write keeps it`;
}

/** A wide picture in half its size: each pixel the mean of four. */
function halved(picture: PNG): PNG {
  const half = new PNG({ width: picture.width / 2, height: picture.height / 2 });
  const row = picture.width * 4;
  const at = (i: number) => Number(picture.data[i]);
  for (let i = 0; i < half.data.length; i += 1) {
    const from = 2 * row * Math.floor(i / (row / 2)) + 8 * ((i % (row / 2)) >> 2) + (i & 3);
    half.data[i] = (at(from) + at(from + 4) + at(from + row) + at(from + row + 4)) / 4;
  }
  return half;
}

/** The share of pixels that differ; 1 if the sizes do. */
function share(a: PNG, b: PNG): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  if (a.data.equals(b.data)) return 0;
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: 0.2 }) / (a.width * a.height);
}
