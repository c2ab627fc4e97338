import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import { startVisits, type Visits } from '../../testing/visit.ts';

const arrival = 'https://www.example.com/page?id=1&utm_source=mail#part';
const web: Web = {
  'http://sho.rt/x': to('https://links.example/y'),
  'https://links.example/y': to(arrival, 302),
  [arrival]: {},
  'http://sho.rt/slow': to('http://slow.example/'),
};

let visits: Visits;
beforeAll(async () => {
  visits = await startVisits(scriptedApp(web));
});
afterAll(() => visits.close());

describe('the page at /', () => {
  test('says what it is for, and has the focus in its one input', () =>
    visits.visit({}, async (page) => {
      await page.goto(visits.origin);
      expect(await page.title()).toBe('Shorten URL Expand');
      expect(await page.locator('form').count()).toBe(1);
      expect(await page.locator('input:focus').getAttribute('name')).toBe('u');
      expect(await page.getByLabel('Short URL').getAttribute('value')).toBe('');
      expect(await page.locator('main').textContent()).toContain('Paste a short URL');
    }));

  test('loads nothing else, and the browser has no complaint', () =>
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
});

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
      expect(await page.locator('.destination .url').textContent()).toBe(arrival);
    }));

  test('the chain shows as it grows', () =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      const slow = Promise.withResolvers<object>();
      web['http://slow.example/'] = slow.promise;
      await page.goto(visits.address('sho.rt/slow'), { waitUntil: 'commit' });
      await page.getByText('http://sho.rt/slow').waitFor();
      await expect.poll(() => page.locator('main').ariaSnapshot()).toContain('Following the redirects');
      expect(await page.locator('[part=waiting]').isVisible()).toBe(true);
      expect(await page.locator('ol > li').count()).toBe(1);
      expect(await page.getByRole('heading', { name: 'It leads to' }).count()).toBe(0);

      slow.resolve({});
      await page.getByRole('heading', { name: 'It leads to' }).waitFor();
      expect(await page.locator('ol > li').count()).toBe(2);
      expect(await page.locator('main').ariaSnapshot()).not.toContain('Following the redirects');
      expect(await page.locator('[part=waiting]').isVisible()).toBe(false);
    }));

  test('the true URL comes first, then the one without tracking, and what was left out', () =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      await page.goto(visits.address('sho.rt/x'));
      const cleaned = 'https://www.example.com/page?id=1#part';
      const links = await page.locator('.actions a').all();
      expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([arrival, cleaned]);
      for (const link of links) expect(await link.getAttribute('rel')).toBe('noreferrer noopener nofollow');
      expect(await page.locator('section li').allInnerTexts()).toContain(
        'utm_source=mail campaign statistics',
      );
      expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(javaScriptEnabled ? 2 : 0);
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
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(arrival);
    expect(await width()).toBe(before);
    await page.getByRole('button', { name: 'Copy the long URL' }).waitFor();
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
    expect(await page.locator('#u').inputValue()).toBe(arrival);
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
});

test('what does not work is said with its verdict', () =>
  visits.visit({}, async (page) => {
    await page.goto(visits.address('nobody.example'));
    await expect
      .poll(() => page.getByRole('status').textContent())
      .toBe('Not working just now. The link does not work. nobody.example refused the connection.');
  }));

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

  test('is not there where nothing can be dragged, by any pointer of the machine', () =>
    visits.visit({ hasTouch: true }, async (page) => {
      await page.goto(visits.origin);
      expect(await page.locator('#bookmarklet').isVisible()).toBe(false);
      // Chromium cannot pretend to have a touch screen and a mouse.
      const media = await page.evaluate(`
        [...document.styleSheets]
          .flatMap(({ cssRules }) => [...cssRules])
          .filter((rule) => rule instanceof CSSMediaRule && rule.cssText.includes('#bookmarklet'))
          .map((rule) => rule.media.mediaText)
      `);
      expect(media).toEqual(['(any-hover: none)']);
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
