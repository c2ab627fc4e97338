import { expect, test } from 'vitest';
import { comparesPictures } from '../testing/accessibility.ts';
import { sharedChromium } from '../testing/chromium.ts';

test('this machine draws text as the pictures have it, so they are compared', async ({ skip }) => {
  const alike = await comparesPictures(await sharedChromium());
  skip(!alike, 'the fonts here are not those of the pictures, which are not compared');
  expect(alike).toBe(true);
});
