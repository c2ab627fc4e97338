import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { web as links } from '../../testing/links.ts';
import { scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';
import { ExpansionError } from '../expansion/errors.ts';

const arrival = 'https://www.example.com/page?id=1&utm_source=mail#part';
const untracked = 'https://www.example.com/page?id=1#part';
const web: Web = {
  'http://sho.rt/often': new ExpansionError('rate_limited', 'Too many.', {
    rate: { count: 1, period: 60, wait: 30 },
  }),
  ...links,
  'http://sho.rt/x': to('https://links.example/y'),
  'https://links.example/y': to(arrival, 302),
  [arrival]: {},
  'http://sho.rt/slow': to('http://slow.example/'),
  'http://sho.rt/fold': to('http://sho.rt/a'),
  'http://sho.rt/intent': to(`intent:${'x'.repeat(80)}`),
};

const visits = await startVisits(scriptedApp(web));
afterAll(() => visits.close());

/** What the page says after a hop, by default the last one. */
const waitingFor = (page: Page, hop = -1) =>
  page.evaluate(`getComputedStyle([...document.querySelectorAll('li')].at(${hop}), '::after').content`);

test('the page loads nothing else, and the browser has no complaint', () =>
  visits.visit({}, async (page) => {
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(visits.address('sho.rt/x'));
    await expect.poll(() => page.locator('[role=status]').textContent()).toContain('It leads to');
    expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([visits.address('sho.rt/x')]);
    expect(complaints).toEqual([]);
  }));

describe.each([true, false])('with JavaScript %s', (javaScriptEnabled) => {
  test('a URL that is typed shows its chain, and stays in the input', () =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      await page.goto(visits.origin);
      await page.getByLabel('Short URL').fill('sho.rt/x');
      await page.getByRole('button', { name: 'Expand' }).click();
      await page.getByRole('heading', { name: 'It leads to' }).waitFor();
      expect(await page.getByLabel('Short URL').inputValue()).toBe('sho.rt/x');
      expect(await page.locator('ol > li .url').allTextContents()).toEqual([
        'http://sho.rt/x',
        'https://links.example/y',
        arrival,
      ]);
      expect(await page.locator('.destination .url').textContent()).toBe(untracked);
    }));

  test('the chain shows as it grows', () =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      const slow = Promise.withResolvers<object>();
      const slower = Promise.withResolvers<object>();
      web['http://slow.example/'] = slow.promise;
      web['http://slower.example/'] = slower.promise;
      await page.goto(visits.address('sho.rt/slow'), { waitUntil: 'commit' });
      await page.getByText('http://sho.rt/slow').waitFor();
      const read = () => page.locator('main').ariaSnapshot();
      await expect.poll(read).toContain('Following the redirects');
      expect(await waitingFor(page)).toBe('"Waiting for http://slow.example/ …"');
      expect(await page.locator('[part=waiting]').isVisible()).toBe(true);
      expect(await page.locator('ol > li').count()).toBe(1);
      expect(await page.getByRole('heading', { name: 'It leads to' }).count()).toBe(0);

      slow.resolve(to('http://slower.example/'));
      await expect.poll(() => waitingFor(page)).toBe('"Waiting for http://slower.example/ …"');
      expect(await waitingFor(page, 0)).toBe('""');
      slower.resolve({});
      await page.getByRole('heading', { name: 'It leads to' }).waitFor();
      expect(await page.locator('ol > li').count()).toBe(3);
      expect(await read()).not.toContain('Following the redirects');
      expect(await waitingFor(page)).toBe('none');
      expect(await page.locator('[part=waiting]').isVisible()).toBe(false);
    }));
});

test('the button copies the long URL, says so to eyes and ears, and keeps its width', () =>
  visits.visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto(visits.address('sho.rt/x'));
    const button = page.locator('.actions button').first();
    const width = async () => (await button.boundingBox())?.width;
    const before = await width();
    await button.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.getByRole('status').textContent()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(untracked);
    expect(await width()).toBe(before);
    await page.getByRole('button', { name: 'Copy the URL without tracking' }).waitFor();
    await page.evaluate('document.execCommand = () => false');
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject()');
    await button.click();
    await page.getByRole('button', { name: 'Not copied' }).waitFor();
    expect(await width()).toBe(before);
  }));

test('on plain http, where browsers have no clipboard, the button copies too, and keeps the focus', () =>
  visits.visit({ permissions: ['clipboard-read'] }, async (page) => {
    await page.goto(visits.address('sho.rt/x'));
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    const button = page.locator('.actions button').first();
    await button.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.locator('#u').fill('');
    await page.keyboard.press('Control+V');
    expect(await page.locator('#u').inputValue()).toBe(untracked);
  }));

test('the outcome is said once, after the page has loaded, with the host for the whole URL', async () => {
  const page = await visits.openPage();
  await page.addInitScript(`
    said = [];
    addEventListener('DOMContentLoaded', () =>
      new MutationObserver(() => said.push(document.querySelector('[role=status]').textContent))
        .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true }));
  `);
  await page.goto(visits.address('sho.rt/x'));
  await expect
    .poll(() => page.evaluate('said'))
    .toEqual([expect.stringMatching(/^It leads to: www\.example\.com\. 2 redirects followed in .*\.$/)]);
  expect(await page.title()).toBe('sho.rt → www.example.com · Shorten URL Expand');
});

test('the text of the field is selected on focus, by key and by click', () =>
  visits.visit({}, async (page) => {
    await page.goto(visits.address('sho.rt/x'));
    const field = page.getByLabel('Short URL');
    const selected = () =>
      page.evaluate(`(({ selectionStart, selectionEnd }) => selectionEnd - selectionStart)(u)`);
    const all = 'sho.rt/x'.length;
    await field.click();
    await expect.poll(selected).toBe(all);
    // A second click places the caret.
    await field.click();
    await expect.poll(selected).toBe(0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await expect.poll(selected).toBe(all);
  }));

test('within one site, the chain grows in sight and is folded at the end', () =>
  visits.visit({}, async (page) => {
    const slow = Promise.withResolvers<object>();
    const slower = Promise.withResolvers<object>();
    web['http://sho.rt/a'] = slow.promise;
    web['http://sho.rt/b'] = slower.promise;
    await page.goto(visits.address('sho.rt/fold'), { waitUntil: 'commit' });
    await expect.poll(() => waitingFor(page)).toBe('"Waiting for http://sho.rt/a …"');
    slow.resolve(to('http://sho.rt/b'));
    const inside = page.getByText('http://sho.rt/a', { exact: true });
    await inside.waitFor();
    expect(await waitingFor(page)).toBe('"Waiting for http://sho.rt/b …"');
    expect(await waitingFor(page, 0)).toBe('""');
    slower.resolve({});
    await page.getByRole('heading', { name: 'It leads to' }).waitFor();
    await inside.waitFor({ state: 'hidden' });
    await page.getByText('More at sho.rt').click();
    await inside.waitFor();
    expect(await page.locator('ol > li').count()).toBe(3);
  }));

test('over the rate limit, "Try again" counts down, and works at the end', async () => {
  const page = await visits.openPage();
  await page.clock.install();
  await page.goto(visits.address('sho.rt/often'));
  await page.clock.pauseAt(Date.now() + 1_000);
  const again = page.locator('.actions a');
  expect(await again.textContent()).toMatch(/^Try again in \d\d s$/);
  expect(await again.getAttribute('href')).toBeNull();
  await page.clock.runFor(10_000);
  expect(await again.textContent()).toMatch(/^Try again in 1\d s$/);
  await page.clock.runFor(20_000);
  expect(await again.textContent()).toBe('Try again');
  delete web['http://sho.rt/often'];
  await again.click();
  await page.getByText('The link does not work', { exact: true }).waitFor();
});

test('of several links that are pasted, each leads to its own page', () =>
  visits.visit({}, async (page) => {
    await page.goto(visits.address('Look: http://sho.rt/x, or [http://a.example](http://sho.rt/a).'));
    await page.getByRole('heading', { name: '2 links found' }).waitFor();
    expect(await page.locator('ul a').allTextContents()).toEqual(['http://sho.rt/x', 'http://sho.rt/a']);
    await page.getByRole('link', { name: 'http://sho.rt/x' }).click();
    await expect.poll(() => page.url()).toBe(visits.address('http://sho.rt/x'));
  }));

test('on a phone the field has its own line, and what can be touched is 44 pixels high', () =>
  visits.visit({ viewport: { width: 390, height: 800 }, hasTouch: true }, async (page) => {
    for (const u of ['', 's.example/round', 'See sho.rt/x.', 'http://a.example http://b.example']) {
      await page.goto(visits.address(u));
      const width = async (selector: string) => (await page.locator(selector).boundingBox())?.width;
      expect(await width('#u')).toBe(await width('form'));
      for (const target of await page.locator('a:visible, button:visible, summary:visible').all()) {
        const { height = 0 } = (await target.boundingBox()) ?? {};
        expect(height, (await target.textContent()) ?? '').toBeGreaterThanOrEqual(44);
      }
    }
  }));

describe('on a screen of 360 pixels', () => {
  const narrow = { viewport: { width: 360, height: 800 } };

  test('a word that is too long for the line begins on the first one', () =>
    visits.visit(narrow, async (page) => {
      await page.goto(visits.address('sho.rt/intent'));
      const gap = await page.evaluate(`(() => {
        const url = document.querySelector('.destination .url');
        const range = new Range();
        range.selectNodeContents(url);
        const first = [...range.getClientRects()].find(({ width }) => width > 0);
        return first.top - url.getBoundingClientRect().top;
      })()`);
      expect(gap).toBeLessThan(10);
    }));

  test('a host stands on one line, in one piece, and a long one makes the page no wider', () =>
    visits.visit(narrow, async (page) => {
      await page.goto(visits.address('s.example/imitation'));
      for (const host of await page.locator('.url b').all())
        expect((await host.boundingBox())?.height).toBeLessThan(45);
      await page.goto(visits.address('s.example/wide'));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    }));
});

describe('the bookmarklet', () => {
  const dragged = async () =>
    visits.visit({}, async (page) => {
      await page.goto(visits.origin);
      const href = (await page.locator('#bookmarklet a').getAttribute('href')) ?? '';
      return decodeURIComponent(href.replace(/^javascript:/, ''));
    });

  test.each([
    ['the link that is selected', '<a href="http://sho.rt/x">look here</a>', 'http://sho.rt/x'],
    ['the text that is selected', '<p>sho.rt/x</p>', 'sho.rt/x'],
  ])('pressed on another page expands %s', async (_, html, u) => {
    const bookmarklet = await dragged();
    const page = await visits.openPage();
    await page.setContent(html);
    await page.evaluate('getSelection().selectAllChildren(document.body.firstElementChild)');
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.evaluate(bookmarklet)]);
    await opened.getByRole('heading', { name: 'It leads to' }).waitFor();
    expect(opened.url()).toBe(visits.address(u));
  });

  test('is not there where nothing can be dragged', () =>
    visits.visit({ hasTouch: true }, async (page) => {
      await page.goto(visits.origin);
      expect(await page.locator('#bookmarklet').isVisible()).toBe(false);
    }));

  test('pressed on the page itself only says what it is for', () =>
    visits.visit({}, async (page) => {
      await page.goto(visits.origin);
      await page.locator('#bookmarklet a').click();
      const words = 'Drag it to your bookmarks: clicking it here does nothing.';
      expect(await page.getByRole('status').textContent()).toBe(words);
      expect(await page.locator('#bookmarklet').getByText(words).isVisible()).toBe(true);
    }));
});
