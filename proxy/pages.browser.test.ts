import { join } from 'node:path';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { accessibilityFaults, loadAxe } from '@longhand/shared/testing/accessibility.ts';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
import { afterAll, expect, test } from 'vitest';

const pictures = join(import.meta.dirname, 'testing/pictures');
const proxy = await startTemporaryProxy({});
const page = await (await sharedChromium()).newPage();
await loadAxe(page);
afterAll(async () => {
  await page.context().close();
  await proxy.stop();
});

const url = (name: 'all' | 'expander' | 'tasks', path: string) =>
  `http://127.0.0.1:${proxy.ports[name]}${path}`;

test.each([
  ['front page', 'all', '/', 'Longhand'],
  ['404 page', 'all', '/nowhere', 'There is nothing at this address.'],
  ['502 page', 'expander', '/?u=a', 'The application is not responding.'],
  ['414 page', 'tasks', `/${'x'.repeat(33_000)}`, 'The address is too long.'],
] as const)('the %s is accessible on phone and desktop', async (name, server, path, heading) => {
  await page.goto(url(server, path));
  expect(await page.evaluate('document.querySelector("h1").textContent')).toBe(heading);
  expect(await accessibilityFaults(page, name, pictures)).toEqual([]);
});

test('a document is accessible on phone and desktop', async () => {
  await page.goto(url('tasks', '/longhand/docs/operate'));
  expect(await accessibilityFaults(page, 'a document')).toEqual([]);
});

test('the other documents are accessible and fit a phone screen', async () => {
  await page.setViewportSize({ width: 360, height: 800 });
  const rules = { 'color-contrast': { enabled: false } };
  const options = JSON.stringify({ rules, resultTypes: ['violations'] });
  for (const name of ['install', 'configuration', 'api', 'changelog']) {
    await page.goto(url('tasks', `/longhand/docs/${name}`));
    const faults = await page.evaluate(`axe.run(${options}).then(({ violations }) => violations)`);
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect([name, faults, excess]).toEqual([name, [], 0]);
  }
});

test('touch targets are 44 px high', async () => {
  const page = await (await sharedChromium()).newPage({ hasTouch: true, isMobile: true });
  for (const path of ['/', '/nowhere', '/docs/install']) {
    await page.goto(url('all', path));
    const heights = page
      .locator('h2 a, nav a, footer a, .ways a')
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height));
    expect(Math.min(...(await heights)), path).toBeGreaterThanOrEqual(44);
  }
  await page.close();
});

test.each(['w3m', 'lynx'] as const)('an error page is readable in %s', async (browser) => {
  if (!(await hasTextBrowser(browser))) return;
  expect(await readInTextBrowser(browser, url('expander', '/?u=a'))).toMatch(
    /^The application is not responding\. It is restarting\. Try again in a few seconds\. Try again Back to the start page Error 502, request [0-9a-f]{32}$/,
  );
});
