import { startShortener } from '@longhand/shortener';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { startVisits } from '../../testing/visit.ts';
import { website } from '../../testing/website.ts';

const shortener = await startShortener();

const visits = await startVisits(testExpander().app);
afterAll(() => visits.close());

/** Each payload calls `hit` if it runs as markup or script. */
const payloads = [
  'javascript:hit()',
  '"><script>hit()</script>',
  "'><img src=x onerror=hit()>",
  '</title></style></script><svg onload=hit()>',
  'data:text/html,<script>parent.hit()</script>',
  'mailto:<img src=x onerror=hit()>',
  'http://[<script>hit()</script>',
  'http://[x]/<img src=x onerror=hit()>',
  '/status/200?"autofocus onfocus="hit()',
  '/status/200?<%= hit() %>`\\',
  '/status/200#\u2028hit()\u2029<!--',
];

/** A browser page that ignores Content-Security-Policy, so only escaping protects it. */
let page: Page;
const hits: string[] = [];
beforeAll(async () => {
  page = await visits.openPage({ bypassCSP: true });
  await page.exposeFunction('hit', () => hits.push(page.url()));
});
afterEach(() => expect(hits.splice(0)).toEqual([]));

const redirectTo = (location: string) => `${shortener.url}/location?to=${encodeURIComponent(location)}`;

describe('the page escapes', () => {
  /** Opens the page for `u`. Returns the number of hops and the field's text. */
  const openInert = async (u: string) => {
    await page.goto(visits.address(u));
    const shown = (await page.evaluate(`({
      loud: document.querySelectorAll('script, img, svg, iframe, [onload], [onfocus]').length,
      links: [...document.querySelectorAll('a:not(#bookmarklet a)')].map((link) => link.getAttribute('href')),
      hops: document.querySelectorAll('ol > li').length,
      typed: document.querySelector('#u').value,
    })`)) as { loud: number; links: string[]; hops: number; typed: string };
    expect(shown.loud, u).toBe(1);
    for (const href of shown.links) expect(href, u).toMatch(/^(\/|https?:\/\/|mailto:)/);
    return shown;
  };

  test('a hostile Location', async () => {
    for (const payload of payloads) expect((await openInert(redirectTo(payload))).hops, payload).toBe(2);
  });

  test('a hostile u', async () => {
    for (const payload of payloads) expect((await openInert(payload)).typed).toBe(payload);
  });
});

test('the API sends no markup', async () => {
  const addresses = payloads.flatMap((payload) => {
    const u = redirectTo(payload);
    const calls = [{ u }, { u, cb: 'f' }, { u: payload }, { u, cb: payload }];
    return calls.map((parameters) => `/api?${new URLSearchParams(parameters as Record<string, string>)}`);
  });
  await page.goto(visits.origin);
  const parsed = await page.evaluate(`Promise.all(${JSON.stringify(addresses)}.map(async (address) => {
    const response = await fetch(address);
    const type = response.headers.get('content-type');
    const parsed = new DOMParser().parseFromString(await response.text(), type);
    return [address, type, parsed.querySelectorAll('head *, body *').length];
  }))`);
  expect(parsed).toEqual(addresses.map((address) => [address, 'text/html', 0]));
});

describe('JSONP on a page from another origin', () => {
  /** Returns the arguments of `show` and the number of calls to `hit`. */
  const run = async (calls: Record<string, string>[]): Promise<unknown> => {
    const scripts = calls.map((parameters) => `${visits.origin}/api?${new URLSearchParams(parameters)}`);
    const other = await website(
      (_, response) =>
        response.setHeader('Content-Type', 'text/html').end(`<!doctype html>
          <script>shown = []; hits = 0; my = { show: (url) => shown.push(url) }; hit = () => { hits += 1; }</script>
          ${scripts.map((script) => `<script src="${script.replaceAll('&', '&amp;')}"></script>`).join('')}`),
      { host: 'localhost' },
    );
    return visits.visit({}, async (page) => {
      await page.goto(other);
      return page.evaluate('({ shown, hits })');
    });
  };

  test('calls the function with only the long URL', async () => {
    const urls = ['/status/200', ...payloads].map(redirectTo);
    const expand = async (u: string) =>
      (await fetch(`${visits.origin}/api?${new URLSearchParams({ u })}`)).text();
    const shown = await Promise.all(urls.map(expand));
    expect(await run(urls.map((u) => ({ u, cb: 'my.show' })))).toEqual({ shown, hits: 0 });
  });

  test('does not run a hostile cb', async () => {
    const names = ['hit();my.show', 'my.show(hit())||f', 'hit()//', 'my.show\u2028hit', '`hit()`'];
    const calls = names.map((cb) => ({ u: `${shortener.url}/chain/0`, cb }));
    expect(await run(calls)).toEqual({ shown: [], hits: 0 });
  });
});
