import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Result } from 'axe-core';
import type { Page } from 'playwright-core';
import { pictureFault } from './golden.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const options = JSON.stringify({ runOnly: tags, resultTypes: ['violations'] });
/** Only violations leave the page: transferring axe's full report costs as much as running its rules. */
const violationsOf = `axe.run(${options}).then(({ violations }) => violations)`;

/** The screens of a phone and a desk, one light and one dark. */
const looks = [
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;

/** The narrowest phone. */
const narrow = 360;

/** Loads axe into every document that `page` opens from now on. Loading it into an open one costs three times as much. */
export async function bringAxe(page: Page): Promise<void> {
  await page.addInitScript(axe);
}

/**
 * What axe finds wrong with `page`, on a light phone and a dark desk, where it is wider than the screen, and where it
 * differs from the pictures that are kept: one line for each. Call `bringAxe` before `page` opens its document.
 *
 * @param name of the state, such as `an empty list`.
 * @param pictures the folder of its pictures; without one there are none.
 */
export async function accessibilityFaults(page: Page, name: string, pictures?: string): Promise<string[]> {
  const faults: string[] = [];
  // The style comes after the document.
  await page.waitForLoadState();
  for (const { width, colorScheme } of looks) {
    const look = `${width} px, ${colorScheme}`;
    await page.setViewportSize({ width: width > 800 ? width : narrow, height: 800 });
    const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (excess > 0) faults.push(`${look}: ${excess} px wider than the screen`);
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: 'screen', colorScheme });
    for (const { id, nodes } of (await page.evaluate(violationsOf)) as Result[]) {
      faults.push(...nodes.map(({ html, failureSummary }) => `${look}: ${id}: ${html} ${failureSummary}`));
    }
    // Elsewhere Chromium has the system's fonts, not those of `fonts.conf`.
    if (!pictures || process.platform !== 'linux') continue;
    const file = `${name.replace(/\W+/g, '-')}-${width}-${colorScheme}.png`;
    const difference = await pictureFault(page, join(pictures, file));
    if (difference) faults.push(difference);
  }
  return faults;
}
