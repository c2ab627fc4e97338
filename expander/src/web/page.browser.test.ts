import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { web as links } from '../../testing/links.ts';
import { scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';
import { ExpansionError } from '../expansion/errors.ts';

const arrival = 'https://www.example.com/page?id=1&utm_source=mail#part';
const untracked = 'https://www.example.com/page?id=1#part';
/** Returns a URL whose site has `length` characters and many hyphens. */
const longSite = (length: number) =>
  `http://paypal.com.${'a-long-'.repeat(9).slice(0, length - 9)}x.example/signin`;
const web: Web = {
  'http://sho.rt/often': new ExpansionError('rate_limited', 'Too many; try again in 30 s.', {
    rate: { count: 1, period: 60, wait: 30 },
  }),
  ...links,
  'http://sho.rt/x': to('https://links.example/y'),
  'https://links.example/y': to(arrival, 302),
  [arrival]: {},
  'http://sho.rt/fold': to('http://sho.rt/a'),
  ...Object.fromEntries([25, 40, 60].map((n) => [`http://sho.rt/site${n}`, to(longSite(n))])),
  'http://s.example/intent': to(`intent:${'x'.repeat(80)}`),
};

const phone = { viewport: { width: 360, height: 800 }, hasTouch: true };
/** With a request ID, the header is wider because it also links to the proxy. */
const small = { hasTouch: true, extraHTTPHeaders: { 'X-Request-Id': 'a' } };
const noScript = { javaScriptEnabled: false };
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };

const visits = await startVisits(scriptedApp(web));
afterAll(() => visits.close());

/** Returns the CSS-generated text after a hop, by default the last hop. */
const waitingFor = (page: Page, hop = -1) =>
  page.evaluate(`getComputedStyle([...document.querySelectorAll('li')].at(${hop}), '::after').content`);

visits.test('the page makes one request and announces the result once', {}, async (page) => {
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.addInitScript(`
    said = [];
    addEventListener('DOMContentLoaded', () =>
      new MutationObserver(() => said.push(document.querySelector('[role=status]').textContent))
        .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true }));
  `);
  await page.goto(visits.address('sho.rt/x'));
  await expect
    .poll(() => page.evaluate('said'))
    .toEqual([expect.stringMatching(/^It leads to example\.com\. 2 redirects followed[^.]*(?:\.\d s)?$/)]);
  expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([visits.address('sho.rt/x')]);
  expect(complaints).toEqual([]);
});

visits.test('the chain and its details work without JavaScript', noScript, async (page) => {
  const slow = Promise.withResolvers<object>();
  const slower = Promise.withResolvers<object>();
  web['http://sho.rt/a'] = slow.promise;
  web['http://sho.rt/b'] = slower.promise;
  await page.goto(visits.origin);
  await page.getByLabel('Link').fill('sho.rt/fold');
  await page.getByRole('button', { name: 'Expand' }).click();
  await page.getByText('http://sho.rt/fold').waitFor();
  const read = () => page.locator('main').ariaSnapshot();
  await expect.poll(read).toContain('Following the redirects');
  expect(await waitingFor(page)).toBe('"Waiting for http://sho.rt/a …"');
  expect(await page.getByRole('heading', { name: 'It leads to' }).count()).toBe(0);

  slow.resolve(to('http://sho.rt/b'));
  const inside = page.locator('ol').getByText('http://sho.rt/a', { exact: true });
  await inside.waitFor();
  await expect.poll(() => waitingFor(page)).toBe('"Waiting for http://sho.rt/b …"');
  expect(await waitingFor(page, 0)).toBe('""');

  slower.resolve(to(arrival));
  await page.getByRole('heading', { name: 'It leads to' }).waitFor();
  expect(await page.locator('.destination .url').textContent()).toBe(untracked);
  expect(await page.getByLabel('Link').inputValue()).toBe('sho.rt/fold');
  expect(await page.title()).toBe('sho.rt · Where does it lead?');
  expect(await read()).not.toContain('Following the redirects');
  expect(await waitingFor(page)).toBe('none');
  const chain = page.locator('ol');
  expect(await chain.isVisible()).toBe(false);
  await page.getByText('How we got there: sho.rt → www.example.com').click();
  await chain.waitFor();
  const lines = () =>
    page.evaluate(`[...document.querySelectorAll('ol > li')]
      .map((line) => getComputedStyle(line, '::before').content + line.innerText.split('\\n')[0])`);
  expect(await lines()).toEqual([
    ...['"1"http://sho.rt/fold', '"2"http://sho.rt/a', '"3"http://sho.rt/b'],
    '"4"https://www.example.com/page?id=1&utm_source=mail#part',
  ]);
  expect(await page.getByText('301, moved permanently').first().isVisible()).toBe(true);
});

visits.test('the result determines the document title and the buttons', {}, async (page) => {
  for (const [u, hosts, ...buttons] of [
    ['s.example/title', 's.example → title.example', 'Copy the URL without tracking', 'Open it'],
    ['s.example/down', 's.example → down.example', 'Try again', 'Copy the long URL', 'Try it anyway'],
    ['s.example/loop', 's.example', 'Copy the long URL'],
  ]) {
    await page.goto(visits.address(`${u}`));
    expect(await page.title()).toBe(`${hosts} · Where does it lead?`);
    const shown = await page.evaluate(
      "[...document.querySelector('.actions').querySelectorAll('a, button')].map((each) => each.textContent)",
    );
    expect(shown).toEqual(buttons);
  }
  await page.goto(visits.address('http://['));
  expect(await page.title()).toBe('Where does it lead? · Shorten URL Expand');
});

test('Copy works with and without the clipboard API', async () => {
  const page = await visits.openPage(clipboard);
  await page.clock.install();
  await page.goto(visits.address('sho.rt/x'));
  await page.clock.pauseAt(Date.now() + 1_000);
  const button = page.locator('.actions button').first();
  const width = async () => (await button.boundingBox())?.width;
  const before = await width();
  await button.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.getByRole('status').textContent()).toBe('Copied');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(untracked);
  expect(await width()).toBe(before);
  await page.clock.runFor(2_000);
  expect(await button.textContent()).toBe('Copy the URL without tracking');

  await page.evaluate("navigator.clipboard.writeText('')");
  const setClipboard = (value: string) =>
    page.evaluate(`Object.defineProperty(navigator, 'clipboard', { configurable: true, value: ${value} })`);
  await setClipboard('undefined');
  await button.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  await page.locator('#u').fill('');
  await page.keyboard.press('Control+V');
  expect(await page.locator('#u').inputValue()).toBe(untracked);

  await setClipboard('{ writeText: () => Promise.reject() }');
  await page.evaluate('document.execCommand = () => false');
  await button.click();
  await page.getByRole('button', { name: 'Not copied' }).waitFor();
  expect(await width()).toBe(before);
});

visits.test('the first click in the field selects the text', {}, async (page) => {
  await page.goto(visits.address('sho.rt/x'));
  const selected = () => page.evaluate('u.selectionEnd - u.selectionStart');
  for (const length of ['sho.rt/x'.length, 0, 0]) {
    await page.getByLabel('Link').click();
    await expect.poll(selected).toBe(length);
  }
  await page.reload();
  const { x, y } = (await page.getByLabel('Link').boundingBox()) ?? expect.fail();
  await page.mouse.move(x + 35, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 20);
  await page.mouse.up();
  expect(await selected()).toBeLessThan('sho.rt/x'.length);
});

test('"Try again" and the error message count down after a rate limit error', async () => {
  const page = await visits.openPage();
  await page.clock.install();
  await page.goto(visits.address('sho.rt/often'));
  await page.clock.pauseAt(Date.now() + 1_000);
  const again = page.locator('.actions a');
  expect(await again.textContent()).toMatch(/^Try again in \d\d s$/);
  expect(await again.getAttribute('href')).toBeNull();
  const sentence = page.locator('#explanation');
  await page.clock.runFor(10_000);
  const [time = ''] = /in 1\d s$/.exec((await again.textContent()) ?? '') ?? [];
  expect(await sentence.textContent()).toBe(`Too many; try again ${time}.`);
  await page.clock.runFor(20_000);
  expect(await again.textContent()).toBe('Try again');
  expect(await sentence.textContent()).toBe('Too many; try again.');
  delete web['http://sho.rt/often'];
  await again.click();
  await page.getByRole('heading', { name: 'could not be reached' }).waitFor();
});

visits.test('only problem verdicts are coloured', {}, async (page) => {
  const style = (selector: string, property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  const colours: unknown[] = [];
  for (const path of ['final', 'dead', 'down', 'plainly', 'mixed']) {
    await page.goto(visits.address(`s.example/${path}`));
    colours.push(await style('.verdict', 'backgroundColor'));
    expect((await style('.actions [rel]', 'borderTopColor')) === 'rgba(0, 0, 0, 0)').toBe(path !== 'final');
  }
  expect(colours[0]).toBe('rgba(0, 0, 0, 0)');
  // A website that is out of order is no risk, like a page that is gone.
  expect(colours[2]).toBe(colours[1]);
  expect(new Set(colours).size).toBe(4);
  const red = colours[4];
  expect(await style('.destination', 'borderLeftColor')).toBe(red);
  for (const host of ['.site', '.destination b']) expect(await style(host, 'color')).toBe(red);
  await page.emulateMedia({ forcedColors: 'active' });
  expect(await style('.verdict', 'borderTopWidth')).toBe('1px');
  await page.emulateMedia({ forcedColors: null });
});

visits.test('controls are at least 44 pixels high on a phone', phone, async (page) => {
  for (const u of ['', 's.example/round', 'See sho.rt/x.', 'http://a.example http://b.example']) {
    await page.goto(visits.address(u));
    const low = await page.evaluate(`[...document.querySelectorAll('a, button, summary')]
      .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 44)
      .map((each) => each.textContent)`);
    expect(low).toEqual([]);
    expect(await page.locator('#bookmarklet').isVisible()).toBe(false);
  }
});

visits.test('small phones show the destination without scrolling', small, async (page) => {
  await page.addInitScript('navigator.share = async () => {}');
  /** Returns the number of elements in each row. */
  const rows = (elements: string) =>
    page.evaluate(`Object.values(Object.groupBy(
      [...document.querySelectorAll('${elements}')].filter((each) => each.checkVisibility()),
      (each) => Math.round(each.getBoundingClientRect().bottom),
    )).map((row) => row.length)`);
  /** Returns the height of the gap above the destination. Overlong words could cause a gap. */
  const gap = () =>
    page.evaluate(`(() => {
      const url = document.querySelector('.destination .url');
      const range = new Range();
      range.selectNodeContents(url);
      const first = [...range.getClientRects()].find(({ width }) => width > 0);
      return first.top - url.getBoundingClientRect().top;
    })()`);
  const pages = { disguised: [2, 1], down: [2, 2], closed: [3], mail: [3], intent: [3] };
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 455 });
    for (const [path, expected] of Object.entries(pages)) {
      await page.goto(visits.address(`s.example/${path}`));
      expect(await rows('form :is(input, button)')).toEqual([1, 1]);
      expect([path, await rows('.actions > *')]).toEqual([path, expected]);
      const { y = 455, height = 0 } = (await page.locator('.destination').boundingBox()) ?? {};
      expect(y + height).toBeLessThan(455);
      expect(await gap()).toBeLessThan(10);
    }
    await page.goto(visits.address('s.example/disguised'));
    const [title, site, ...heights] = (await page.evaluate(`[
      ...['h2', '.site'].map((it) => parseFloat(getComputedStyle(document.querySelector(it)).fontSize)),
      ...['header', '.site', '.destination b'].map((it) => document.querySelector(it).getBoundingClientRect().height),
    ]`)) as number[];
    expect(site).toBe(title);
    expect(Math.max(...heights)).toBeLessThan(50);
  }
});

test.each([320, 390, 1_280])('a long site is as large as the text, at a width of %i pixels', (width) =>
  visits.visit({ viewport: { width, height: 800 } }, async (page) => {
    for (const length of [25, 40, 60]) {
      await page.goto(visits.address(`sho.rt/site${length}`));
      const { sizes, broken, lines } = (await page.evaluate(`({
        sizes: ['h2', '.site', '.destination', '.destination b'].map((it) =>
          parseFloat(getComputedStyle(document.querySelector(it)).fontSize)),
        broken: [...document.querySelectorAll(':is(.site, .destination b) > span')].filter((part) => part.getClientRects().length > 1).length,
        lines: ['.site', '.destination b'].map((it) => {
          const rows = new Map();
          for (const part of document.querySelectorAll(it + ' > span')) {
            const { bottom } = part.getBoundingClientRect();
            rows.set(Math.round(bottom), (rows.get(Math.round(bottom)) ?? '') + part.textContent);
          }
          return [...rows.values()];
        }),
      })`)) as { sizes: number[]; broken: number; lines: string[][] };
      expect(broken).toBe(0);
      const [title = 0, site = 0, url = 0, siteInUrl = 0] = sizes;
      expect([site, siteInUrl]).toEqual([title, url]);
      for (const [, ...rest] of lines) for (const line of rest) expect(line).toMatch(/^[.-]/);
      for (const rows of lines) expect(rows.join('')).toHaveLength(length);
    }
  }),
);

visits.test('an empty field has one wide button, "Paste and expand"', clipboard, async (page) => {
  await page.setViewportSize({ width: 390, height: 700 });
  await page.goto(visits.origin);
  const shown = () => page.locator('form button:visible').allTextContents();
  expect(await shown()).toEqual(['Paste and expand']);
  expect((await page.locator('form button:visible').boundingBox())?.width).toBeGreaterThan(350);
  await page.evaluate("navigator.clipboard.writeText(' look:\\nsho.rt/x ')");
  await page.getByRole('button', { name: 'Paste and expand' }).click();
  await page.getByRole('heading', { name: 'It leads to example.com' }).waitFor();
  expect(await page.getByLabel('Link').inputValue()).toBe('look: sho.rt/x');
  expect(await shown()).toEqual(['Expand']);
  expect((await page.getByLabel('Link').boundingBox())?.width).toBeGreaterThan(350);
  await page.getByLabel('Link').fill('');
  expect(await shown()).toEqual(['Paste and expand']);
  for (const width of [320, 390, 1_280]) {
    await page.setViewportSize({ width, height: 700 });
    const paste = await page.getByRole('button', { name: 'Paste and expand' }).boundingBox();
    expect(paste?.height).toBeLessThan(60);
  }
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.goto(visits.origin);
  expect(await shown()).toEqual(['Expand']);
});

test('pasted lines stay apart', async () => {
  const page = await visits.openPage(clipboard);
  await page.goto(visits.origin);
  await page.evaluate("navigator.clipboard.writeText('sho.rt/x\\nHello')");
  await page.getByLabel('Link').focus();
  await page.keyboard.press('Control+V');
  expect(await page.getByLabel('Link').inputValue()).toBe('sho.rt/x Hello');
});

test('the page says "Expanding …" while the first website is silent, and not after "Back"', async () => {
  const page = await visits.openPage();
  const slow = Promise.withResolvers<object>();
  web['http://sho.rt/slow'] = slow.promise;
  await page.goto(visits.origin);
  await page.getByLabel('Link').fill('sho.rt/slow');
  const submitted = `(() => {
    const [form] = document.forms;
    form.requestSubmit();
    return [form.querySelector('button:not([type])').textContent, form.ariaBusy];
  })()`;
  expect(await page.evaluate(submitted)).toEqual(['Expanding …', 'true']);
  slow.resolve({});
  await page.getByRole('heading', { name: 'It leads' }).waitFor();
  await page.goBack();
  await expect.poll(() => page.locator('form').getAttribute('aria-busy')).toBe('false');
  expect(await page.locator('form button:not([type])').textContent()).toBe('Expand');
});

test.each([390, 1_280])('the result hardly moves the page at a width of %i pixels', async (width) => {
  const page = await visits.openPage({ viewport: { width, height: 800 } });
  await page.addInitScript(`shift = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;
    }).observe({ type: 'layout-shift', buffered: true });`);
  for (const path of ['step', 'title', 'titled']) {
    const slow = Promise.withResolvers<object>();
    web['http://sho.rt/step'] = to(`http://sho.rt/${path}`);
    web[`http://sho.rt/${path}`] = slow.promise;
    web['http://sho.rt/start'] = to(`http://sho.rt/${path}`);
    const going = page.goto(visits.address('sho.rt/start'));
    await expect.poll(() => waitingFor(page)).toContain('Waiting for');
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const room = await page.locator('#expansion').boundingBox();
    slow.resolve(path === 'titled' ? { title: 'A page' } : to(arrival));
    await going;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(Number(await page.evaluate('shift'))).toBeLessThan(0.05);
    // A result of usual length fits into the room that was kept for it.
    expect(await page.locator('#expansion').boundingBox()).toEqual(room);
  }
});

test('the empty page lists the last ten results of this device', async () => {
  const page = await visits.openPage();
  await page.goto(visits.origin);
  expect(await page.locator('#recent').isVisible()).toBe(false);
  for (let n = 0; n < 11; n += 1) {
    web[`http://sho.rt/n${n}`] = to(arrival);
    await page.goto(visits.address(`sho.rt/n${n}`));
  }
  await page.goto(visits.address('sho.rt/n5'));
  await page.goto(visits.address('http://['));
  await page.goto(visits.origin);
  const items = await page.locator('#recent li').allTextContents();
  expect([items.length, new Set(items).size]).toEqual([10, 10]);
  expect(items.slice(0, 3)).toEqual([5, 10, 9].map((n) => `sho.rt/n${n} → example.com`));
  expect(await page.locator('#recent a').first().getAttribute('href')).toBe('/?u=sho.rt%2Fn5');
  await page.getByText('Only on this device.').waitFor();
  const [piece] = await page.locator('#recent .host').allTextContents();
  expect(piece).toBe('example.com');
  await page.getByRole('button', { name: 'Forget' }).click();
  expect(await page.locator('#recent').isVisible()).toBe(false);
  await page.reload();
  expect(await page.locator('#recent').isVisible()).toBe(false);
});

visits.test('the bookmarklet expands the selected link or text on another page', {}, async (page) => {
  await page.goto(visits.origin);
  const href = await page.evaluate("document.querySelector('#bookmarklet a').getAttribute('href')");
  const bookmarklet = decodeURIComponent(`${href}`.replace(/^javascript:/, ''));
  for (const [html, u] of [
    ['<a href="http://sho.rt/x">look here</a>', 'http://sho.rt/x'],
    ['<p>sho.rt/x</p>', 'sho.rt/x'],
  ] as const) {
    await page.setContent(html);
    await page.evaluate('getSelection().selectAllChildren(document.body.firstElementChild)');
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.evaluate(bookmarklet)]);
    await opened.waitForLoadState();
    expect(opened.url()).toBe(visits.address(u));
  }
});

visits.test('clicking the bookmarklet explains how to use it', {}, async (page) => {
  await page.goto(visits.origin);
  await page.locator('#bookmarklet a').click();
  const words = 'Drag it to your bookmarks. Clicking it here does nothing.';
  expect(await page.getByRole('status').textContent()).toBe(words);
  expect(await page.locator('#bookmarklet').getByText(words).isVisible()).toBe(true);
});

visits.test('phones have a Share button and buttons of equal width', phone, async (page) => {
  await page.addInitScript('navigator.share = async (data) => { shared = data; }');
  await page.goto(visits.address('s.example/title'));
  const widths = await page.evaluate(`[...document.querySelector('.actions').querySelectorAll('a, button')]
  .map((each) => Math.round(each.getBoundingClientRect().width))`);
  expect(new Set(widths as number[]).size).toBe(1);
  await page.getByRole('button', { name: 'Share the URL without tracking' }).click();
  expect(await page.evaluate('shared')).toEqual({ url: 'https://title.example/?id=1' });
});
