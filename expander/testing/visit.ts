import { type Application, serve } from '@longhand/shared/serve.ts';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { forget } from '@longhand/shared/testing/forget.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { test } from 'vitest';

/** Serves `app`, and opens its pages in Chromium. */
export async function startVisits(app: Application) {
  const stop = new AbortController();
  const { port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal });
  const origin = `http://127.0.0.1:${port}`;
  const browser = await sharedChromium();
  const opened: Page[] = [];
  const spares = new Map<string, Page>();
  /** Opens a page that stays open until `close`. Use this for several visits, or for state that `visit` cannot reset. */
  const openPage = async (options?: BrowserContextOptions) => {
    const page = await browser.newPage(options);
    opened.push(page);
    return page;
  };
  /** Calls `use` with a clean page, which may come from an earlier visit with the same options. */
  const visit = async <T>(options: BrowserContextOptions, use: (page: Page) => Promise<T>): Promise<T> => {
    const kind = JSON.stringify(options);
    const page = spares.get(kind) ?? (await openPage(options));
    spares.delete(kind);
    const result = await use(page);
    await forget(page);
    spares.set(kind, page);
    return result;
  };
  return {
    /** The application's origin, such as `http://127.0.0.1:4711`. */
    origin,
    /** Returns the URL of the page for `u`. */
    address: (u: string) => `${origin}/?${new URLSearchParams({ u })}`,
    openPage,
    visit,
    /** Defines a test with a single visit. */
    test: (name: string, options: BrowserContextOptions, use: (page: Page) => Promise<void>) =>
      test(name, () => visit(options, use)),
    async close() {
      for (const page of opened) await page.close();
      stop.abort();
    },
  };
}
