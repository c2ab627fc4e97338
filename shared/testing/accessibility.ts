import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Result } from 'axe-core';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const options = JSON.stringify({ runOnly: tags, resultTypes: ['violations'] });
/** Returns only violations, because transferring the full report takes as long as running the rules. */
const violationsOf = `axe.run(${options}).then(({ violations }) => violations)`;

/** A phone in light mode and a desktop in dark mode. */
const looks = [
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;

/** The width of the narrowest supported phone. */
const minWidth = 360;

/** Loads axe into all future documents of `page`, which is three times as fast as loading it into an open document. */
export async function loadAxe(page: Page): Promise<void> {
  await page.addInitScript(axe);
}

/**
 * Returns a line for each axe violation on `page`, each overflow, and each difference from the golden pictures. Call
 * `loadAxe` before `page` loads its document.
 *
 * @param name the page's state, such as `an empty list`
 * @param pictures the folder with the golden pictures
 */
export async function accessibilityFaults(page: Page, name: string, pictures?: string): Promise<string[]> {
  const faults: string[] = [];
  // The style sheet may load after the document.
  await page.waitForLoadState();
  for (const { width, colorScheme } of looks) {
    const look = `${width} px, ${colorScheme}`;
    await page.setViewportSize({ width: width > 800 ? width : minWidth, height: 800 });
    const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (excess > 0) faults.push(`${look}: ${excess} px wider than the screen`);
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: 'screen', colorScheme });
    for (const { id, nodes } of (await page.evaluate(violationsOf)) as Result[]) {
      faults.push(...nodes.map(({ html, failureSummary }) => `${look}: ${id}: ${html} ${failureSummary}`));
    }
    // On other systems, Chromium ignores `fonts.conf`.
    if (!pictures || process.platform !== 'linux') continue;
    const file = `${name.replace(/\W+/g, '-')}-${width}-${colorScheme}.png`;
    const difference = await pictureFault(page, join(pictures, file));
    if (difference) faults.push(difference);
  }
  return faults;
}

/** Maximum share of differing pixels. Allows rounding differences between Chromium versions, but no changed text. */
const tolerance = 0.001;

/** `PICTURES=write` updates the pictures. Check every picture that `git status` lists. */
const writing = process.env.PICTURES === 'write';

/** Replaces values that vary: ports, durations, times of day, request IDs. */
const settle = `{
  const fixed = (text) => text
    .replace(/127\\.0\\.0\\.1:\\d+/g, '127.0.0.1:8080')
    .replace(/\\b\\d?\\d:\\d\\d(\\s[AP]M)?\\b/g, '17:21')
    .replace(/(,|\\sin)\\s\\d+\\sms\\b/g, '')
    .replace(/\\b\\d+(\\.\\d+)?(\\s)(ms|s)\\b/g, '12$2ms')
    .replace(/\\b[0-9a-f]{32}\\b/g, '0123456789abcdef'.repeat(2));
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { currentNode: node } = walk;
    const text = node.parentElement.closest('time') ? node.data.replace(/\\S[^]*\\S/, '17:21') : fixed(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const input of document.querySelectorAll('input[name=u]')) input.value = fixed(input.value);
}`;

/** Returns a message if `page` differs from the picture at `path`. */
async function pictureFault(page: Page, path: string): Promise<string | undefined> {
  await page.evaluate(settle);
  // A screenshot starts an endless animation again, even if the page has ended it meanwhile.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => {})',
  );
  const shown = await page.screenshot({ animations: 'disabled' });
  const kept = existsSync(path) ? readFileSync(path) : undefined;
  // Identical bytes need no pixel comparison.
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
  return `${(differing * 100).toFixed(1)} % of the pixels differ between ${path} and ${seen}. PICTURES=write accepts the change.`;
}

/** Returns the share of differing pixels, or 1 if the sizes differ. */
function share(a: PNG, b: PNG): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  if (a.data.equals(b.data)) return 0;
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: 0.2 }) / (a.width * a.height);
}
