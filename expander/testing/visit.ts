import { type Application, serve } from '@longhand/shared/serve.ts';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';

export interface Visits {
  /** Where the application answers, such as `http://127.0.0.1:4711`. */
  origin: string;
  /** The address of the page with the answer for `u`. */
  address(u: string): string;
  /** A page for many visits: a fresh one costs three times as much as the next visit. */
  openPage(): Promise<Page>;
  /** Lends a fresh page of real Chromium. */
  visit<T>(options: BrowserContextOptions, use: (page: Page) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Serves `app`, and opens it in real Chromium. */
export async function startVisits(app: Application): Promise<Visits> {
  const stop = new AbortController();
  const { port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal });
  const origin = `http://127.0.0.1:${port}`;
  const browser = await sharedChromium();
  const opened: Page[] = [];
  return {
    origin,
    address: (u) => `${origin}/?${new URLSearchParams({ u })}`,
    async openPage() {
      const page = await browser.newPage();
      opened.push(page);
      return page;
    },
    async visit(options, use) {
      const context = await browser.newContext(options);
      try {
        return await use(await context.newPage());
      } finally {
        await context.close();
      }
    },
    async close() {
      for (const page of opened) await page.close();
      stop.abort();
    },
  };
}
