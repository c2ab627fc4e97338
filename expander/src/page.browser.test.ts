import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { serve } from '@longhand/shared/serve.ts';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../shared/testing/chromium.ts';
import { createApp } from './app.ts';
import { type Answer, createExpand, createTrace } from './expand.ts';
import { ExpansionError } from './expansion-error.ts';
import { createPage } from './page.ts';

/** What hosts answer, by URL; a promise is an answer that is waited for. */
const web = new Map<string, Partial<Answer> | Promise<Partial<Answer>>>();
const to = (location: string, status = 301): Partial<Answer> => ({ status, location });
const tracked =
  'https://www.example.com/journal/2026/on-writing-things-out-in-longhand?id=17&utm_source=newsletter&utm_medium=email&fbclid=IwAR0aB3#top';

web.set('http://sho.rt/two', to('https://links.example/r/8f3a'));
web.set('https://links.example/r/8f3a', to('https://www.example.com/journal', 302));
web.set('https://www.example.com/journal', { status: 200 });
web.set('https://sho.rt/down', to('https://track.example/c?u=1', 307));
web.set('https://track.example/c?u=1', { ...to('http://mail.example/open'), method: 'GET' });
web.set('http://mail.example/open', { ...to(tracked, 302), addressFamily: 6 });
web.set(tracked, { status: 200 });
web.set('http://sho.rt/loop', to('http://sho.rt/round'));
web.set('http://sho.rt/round', to('http://sho.rt/loop', 302));
web.set('http://sho.rt/away', to('javascript:alert(document.domain)', 302));

const app = createApp(
  createExpand(
    createTrace(async (url) => {
      const answer = await web.get(url.href);
      if (!answer) throw new ExpansionError('request_failed', `${url.host} refused the connection.`);
      return {
        status: 200,
        location: null,
        method: 'HEAD',
        addressFamily: 4,
        freshUntil: 0,
        cached: false,
        ...answer,
      };
    }),
  ),
  createPage(),
  (_, next) => next(),
);

const stop = new AbortController();
let browser: Browser;
let origin: string;

beforeAll(async () => {
  browser = await launchChromium();
  const { port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal });
  origin = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await browser.close();
  stop.abort();
});

async function visit<T>(options: BrowserContextOptions, use: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext(options);
  try {
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

const address = (u: string) => (u ? `${origin}/?${new URLSearchParams({ u })}` : `${origin}/`);

/** Without JavaScript as a policy makes it: what a test asks of the page is still run. */
async function withoutScript(page: Page): Promise<void> {
  await page.route('**', async (route) => {
    const response = await route.fetch();
    const policy = response
      .headers()
      ['content-security-policy']?.replace(/script-src [^;]+/, "script-src 'none'");
    await route.fulfill({
      response,
      headers: { ...response.headers(), 'content-security-policy': policy ?? '' },
    });
  });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with a page, a line each. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate('axe.run()');
  return (found as import('axe-core').AxeResults).violations.flatMap(({ id, nodes }) =>
    nodes.map(({ failureSummary, html }) => `${id}: ${html} ${failureSummary}`),
  );
}

describe('axe finds no violation', () => {
  const answers = {
    empty: '',
    'two-redirects': 'sho.rt/two',
    'downgrade-and-tracking': 'https://sho.rt/down',
    loop: 'http://sho.rt/loop',
    away: 'http://sho.rt/away',
    error: 'http://nobody.example/',
    mistyped: 'http://',
  };
  const screens = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [360, 1280].flatMap((width) => [true, false].map((scripted) => ({ colorScheme, width, scripted }))),
  );

  test.each(screens)('$colorScheme, $width px, JavaScript $scripted', ({ colorScheme, width, scripted }) =>
    visit({ colorScheme, viewport: { width, height: 800 } }, async (page) => {
      if (!scripted) await withoutScript(page);
      for (const [name, u] of Object.entries(answers)) {
        await page.goto(address(u));
        const file = `${name}-${width}-${colorScheme}${scripted ? '' : '-plain'}.png`;
        await page.screenshot({ path: `${import.meta.dirname}/../out/${file}`, fullPage: true });
        expect.soft(await violations(page), name).toEqual([]);
      }
    }),
  );
});
