import { stat } from 'node:fs/promises';
import type { Browser } from 'playwright-core';

interface Picture {
  width: number;
  height: number;
  /** Pixels of the picture for each of the page. */
  scale: number;
  maxBytes: number;
}

/** Takes a picture of the page at `url` for a README, which loads quickly. @throws Error if it is too large for that. */
export async function takePicture(
  browser: Browser,
  url: string,
  path: string,
  { width, height, scale, maxBytes }: Picture,
): Promise<void> {
  await using page = await browser.newPage({
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: 'light',
    locale: 'en-US',
    timezoneId: 'UTC',
  });
  await page.goto(url);
  await page.screenshot({ path, caret: 'hide' });
  const { size } = await stat(path);
  console.log(`${path}: ${size} bytes`);
  if (size > maxBytes) throw new Error(`${path} has ${size} bytes, more than ${maxBytes}.`);
}
