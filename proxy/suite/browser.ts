import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { join } from 'node:path';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { TestStack } from '../testing/test-stack.ts';

/** `PICTURES=out` takes a picture of each page, to be looked at. */
const { PICTURES } = process.env;

/** The stack in a real browser. */
export function browserWalk(stack: () => TestStack, name: string): void {
  /** Opens a page; fails on errors that the browser reports there. */
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
  const screenshot = async (page: Page, view: string) => {
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${view}.png`), fullPage: true });
  };

  describe('In a browser', () => {
    test('the page for any other host name links to both applications', async () => {
      const { port } = stack();
      await visit(`http://localhost:${port}/`, async (page) => {
        await screenshot(page, 'index');
        await page.getByRole('link', { name: 'Tasks' }).click();
        await page.waitForURL(`http://tasks.localhost:${port}/`);
        await page.goBack();
        await page.getByRole('link', { name: 'Expander' }).click();
        await page.waitForURL(`http://expander.localhost:${port}/`);
        await expect.poll(() => page.title()).toBe('Shorten URL Expand');
      });
    });

    test('a task is added, finished and reopened', async () => {
      const title = `by hand ${randomUUID()}`;
      await visit(`http://tasks.localhost:${stack().port}/`, async (page) => {
        const item = page.locator('li[id^="task-"]').filter({ hasText: title });
        await page.getByRole('textbox').first().fill(title);
        await page.keyboard.press('Enter');
        await item.waitFor();
        await item.locator('a[href$="/finish"]').click();
        await item.locator('s').waitFor();
        await expect.poll(() => item.getAttribute('class')).toBe('finished');
        await screenshot(page, 'finished');
        await item.locator('a[href$="/unfinish"]').click();
        await item.locator('a[href$="/finish"]').waitFor();
        await expect.poll(() => item.locator('s').count()).toBe(0);
        await screenshot(page, 'reopened');
      });
    });

    test('a link through two redirects shows its chain', async () => {
      const { port, shortener } = stack();
      await visit(`http://expander.localhost:${port}/`, async (page) => {
        await page.getByRole('textbox').fill(`${shortener}/chain/2`);
        await page.keyboard.press('Enter');
        await page.getByText('/chain/0').first().waitFor();
        const text = (await page.locator('main').textContent()) ?? '';
        for (const hop of ['/chain/2', '/chain/1', '/chain/0']) expect(text).toContain(hop);
        await screenshot(page, 'chain');
      });
    });

    test('a page of another origin runs the response to `cb` as a script', async () => {
      const { expanderPort, shortener } = stack();
      const u = encodeURIComponent(`${shortener}/chain/2`);
      const other = http.createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html').end(
          `<!doctype html><link rel="icon" href="data:,"><p>waiting</p>
           <script>const show = (url) => { document.querySelector('p').textContent = url; }</script>
           <script src="http://localhost:${expanderPort}/api?u=${u}&cb=show"></script>`,
        );
      });
      const port = await listening(other);
      try {
        await visit(`http://127.0.0.1:${port}/`, async (page) => {
          await expect.poll(() => page.locator('p').textContent()).toBe(`${shortener}/chain/0`);
        });
      } finally {
        cutOff(other);
      }
    });
  });
}
