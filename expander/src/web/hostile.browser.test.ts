import type { RequestListener } from 'node:http';
import { shuffled } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { shortener } from '../../testing/shortener.ts';
import { startVisits } from '../../testing/visit.ts';
import { website } from '../../testing/website.ts';

const visits = await startVisits(testExpander().app);
afterAll(() => visits.close());

/** What would call `hit` if it ever became markup or script. */
const payloads = [
  'javascript:hit()',
  '"><script>hit()</script>',
  "'><img src=x onerror=hit()>",
  '</title></style></script><svg onload=hit()>',
  'data:text/html,<script>parent.hit()</script>',
  'mailto:a@b.example?subject=<img src=x onerror=hit()>',
  'http://[<script>hit()</script>',
  'http://[x]/<img src=x onerror=hit()>',
  '/status/200?"autofocus onfocus="hit()',
  '/status/200?<%= hit() %>`\\',
  '/status/200#\u2028hit()\u2029<!--',
];

/** A page whose policies are switched off: what is shown here is not left to them. */
let page: Page;
const hits: string[] = [];
beforeAll(async () => {
  page = await visits.openPage({ bypassCSP: true });
  await page.exposeFunction('hit', () => hits.push(page.url()));
});
afterEach(() => expect(hits.splice(0)).toEqual([]));

const redirectTo = (location: string) => `${shortener.url}/location?to=${encodeURIComponent(location)}`;

describe('the page never has as markup or script', () => {
  const expectInert = async (payload: string) => {
    expect(await page.locator('script, img, svg, iframe, [onload], [onfocus]').count(), payload).toBe(1);
    const links = page.locator('a:not(#bookmarklet a)');
    for (const href of await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))) {
      expect(href, payload).toMatch(/^(\/|https?:\/\/)/);
    }
  };

  test('a hostile Location', async () => {
    for (const payload of payloads) {
      await page.goto(visits.address(redirectTo(payload)));
      await expectInert(payload);
      expect(await page.locator('ol > li').count(), payload).toBe(2);
    }
  });

  test('a hostile u', async () => {
    for (const payload of payloads) {
      await page.goto(visits.address(payload));
      await expectInert(payload);
      expect(await page.getByRole('textbox').inputValue()).toBe(payload);
    }
  });
});

test('the API, opened as a page, is text and nothing else', async () => {
  const calls = payloads.flatMap((payload) => {
    const u = redirectTo(payload);
    return [
      { u, cb: '' },
      { u, cb: 'f' },
      { u: payload, cb: '' },
      { u, cb: payload },
    ];
  });
  for (const parameters of shuffled(calls).slice(0, rounds({ short: 10, long: calls.length }))) {
    await page.goto(`${visits.origin}/api?${new URLSearchParams(parameters)}`);
    const elements = await page.evaluate("document.querySelectorAll('body *').length");
    expect(elements, JSON.stringify(parameters)).toBe(0);
  }
});

describe('JSONP, run as a script by a page of another origin', () => {
  type Run = (parameters: Record<string, string>) => Promise<unknown>;
  /** Lends what runs a script and resolves with what `show` was called with, and how often `hit` was. */
  const running = async (use: (run: Run) => Promise<void>) => {
    const answer: RequestListener = ({ url = '' }, response) => {
      const script = `${visits.origin}/api${url.slice(1)}`;
      response.setHeader('Content-Type', 'text/html').end(`<!doctype html>
        <script>shown = []; hits = 0; my = { show: (url) => shown.push(url) }; hit = () => { hits += 1; }</script>
        <script src="${script.replaceAll('&', '&amp;')}"></script>`);
    };
    const other = await website(answer, { host: 'localhost' });
    await visits.visit({}, (page) =>
      use(async (parameters) => {
        await page.goto(`${other}/?${new URLSearchParams(parameters)}`);
        return page.evaluate('({ shown, hits })');
      }),
    );
  };

  test('calls the function with the long URL, as a string and nothing else', () =>
    running(async (run) => {
      for (const payload of ['/status/200', ...payloads]) {
        const u = redirectTo(payload);
        const text = await (await fetch(`${visits.origin}/api?${new URLSearchParams({ u })}`)).text();
        expect(await run({ u, cb: 'my.show' }), payload).toEqual({ shown: [text], hits: 0 });
      }
    }));

  test('does not run a hostile cb', () =>
    running(async (run) => {
      for (const cb of ['hit();my.show', 'my.show(hit())||f', 'hit()//', 'my.show\u2028hit', '`hit()`']) {
        expect(await run({ u: `${shortener.url}/chain/0`, cb }), cb).toEqual({ shown: [], hits: 0 });
      }
    }));
});
