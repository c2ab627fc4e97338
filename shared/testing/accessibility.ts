import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Page } from 'playwright-core';
import { rounds } from './rounds.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const options = JSON.stringify({ runOnly: tags, resultTypes: ['violations'] });
/** Only violations leave the page: transferring axe's full report costs as much as running its rules. */
const violationsOf = `axe.run(${options}).then(({ violations }) => violations)`;

/** The screens of a phone and a desk, light and dark: every combination in the long form, each once in the short one. */
const looks = [
  { width: 360, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 360, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/** `PICTURES=out` takes a picture of every page that is checked. */
const { PICTURES } = process.env;

/** Loads axe into every document that `page` opens from now on. Loading it into an open one costs three times as much. */
export async function bringAxe(page: Page): Promise<void> {
  await page.addInitScript(axe);
}

/**
 * What axe finds wrong with `page`, on a phone and a desk, light and dark, and where it is wider than the screen: one
 * line for each element. Call `bringAxe` before `page` opens its document.
 *
 * @param name what the pictures are called.
 */
export async function accessibilityFaults(page: Page, name: string): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, colorScheme } of looks.slice(0, rounds({ short: 2, long: 4 }))) {
    const look = `${width} px, ${colorScheme}`;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: 'screen', colorScheme });
    for (const { id, nodes } of (await page.evaluate(violationsOf)) as Result[]) {
      faults.push(...nodes.map(({ html, failureSummary }) => `${look}: ${id}: ${html} ${failureSummary}`));
    }
    const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (excess > 0) faults.push(`${look}: ${excess} px wider than the screen`);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}, ${look}.png`, fullPage: true });
  }
  return faults;
}
