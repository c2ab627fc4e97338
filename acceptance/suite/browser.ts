import { randomUUID } from 'node:crypto';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { send } from '@longhand/shared/testing/send.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { TestStack } from '../testing/test-stack.ts';

/** Defines the browser tests that every stack must pass. */
export function browserWalk(stack: () => TestStack): void {
  /** Opens a page and fails if the browser reports an error. */
  const visit = async (url: string, use: (page: Page) => Promise<void>) => {
    const browser = await sharedChromium();
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    try {
      await page.goto(url);
      await use(page);
      expect(errors).toEqual([]);
    } finally {
      await page.close();
    }
  };

  describe('In a browser', () => {
    test('a user can add and finish a task', async () => {
      const { port, tasksPort } = stack();
      const title = `by hand ${randomUUID()}`;
      await visit(`http://localhost:${port}/`, async (page) => {
        await page.getByRole('link', { name: 'Tasks' }).click();
        await page.waitForURL(`http://localhost:${tasksPort}/`);
        const item = page.locator('li[id^="task-"]').filter({ hasText: title });
        await page.getByRole('textbox').first().fill(title);
        await page.keyboard.press('Enter');
        await item.waitFor();
        await item.locator('a[href$="/finish"]').click();
        await item.locator('s').waitFor();
        await expect.poll(() => item.getAttribute('class')).toBe('finished');
      });
    });

    test('the installed expander opens links that other apps share', async () => {
      const { expanderPort, shortener } = stack();
      await visit(`http://localhost:${expanderPort}/`, async (page) => {
        const devtools = await page.context().newCDPSession(page);
        const { errors, data = '' } = await devtools.send('Page.getAppManifest');
        const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
        expect([errors, installabilityErrors]).toEqual([[], []]);
        const { icons, share_target: share } = JSON.parse(data);
        for (const { src, type } of icons) {
          const { status, headers } = await send(expanderPort, `/longhand/${src}`);
          expect([status, headers['content-type']]).toEqual([200, type]);
        }
        const shared = new URLSearchParams({ [share.params.text]: `Look: ${shortener}/chain/1` });
        await page.goto(`http://localhost:${expanderPort}${share.action}?${shared}`);
        await expect.poll(() => page.locator('main').textContent()).toContain('/chain/0');
      });
    });

    test("the expander shows a link's chain", async () => {
      const { port, shortener } = stack();
      await visit(`http://expander.localhost:${port}/`, async (page) => {
        await page.getByRole('textbox').fill(`${shortener}/chain/2`);
        await page.keyboard.press('Enter');
        const text = () => page.locator('main').textContent();
        for (const hop of ['/chain/2', '/chain/1', '/chain/0']) await expect.poll(text).toContain(hop);
      });
    });
  });
}
