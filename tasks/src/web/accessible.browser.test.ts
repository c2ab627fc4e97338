import { accessibilityFaults, loadAxe } from '@longhand/shared/testing/accessibility.ts';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { enter, field, paste, pictures, poll, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

/** @param scripts whether scripts run; pictures are compared only with scripts */
const faults = (page: Page, name: string, scripts = true) =>
  accessibilityFaults(page, name, scripts ? pictures : undefined);

const pages: Record<string, Page> = {};
beforeAll(async () => {
  for (const scripts of [true, false]) {
    const page = await site.pageForAll();
    await loadAxe(page);
    pages[`${scripts}`] = page;
  }
  // Axe needs JavaScript, so only our scripts are blocked.
  const session = await pages.false?.context().newCDPSession(pages.false);
  await session?.send('Network.enable');
  await session?.send('Network.setBlockedURLs', { urls: ['*.js'] });
});

/** Opens `path` without drafts. */
async function open(scripts: boolean, path = '/', status = 200): Promise<Page> {
  const page = pages[`${scripts}`] as Page;
  if (page.url() !== 'about:blank') await page.evaluate('sessionStorage.clear()');
  expect((await page.goto(path))?.status()).toBe(status);
  return page;
}

const many = Array.from({ length: 101 }, (_, i) => `Task number ${i + 1}`);
const strange = [
  'wordwithoutend'.repeat(35),
  'a long title '.repeat(38).trim(),
  'שלום עולם, זו משימה',
  'مرحبا (milk) 42',
  'לקרוא https://bit.ly/3xYz',
  'Read https://bit.ly/3xYz and https://example.org/a',
];

const click = (label: string) => (page: Page) => page.getByLabel(label, { exact: true }).click();
const add = (title: string) => async (page: Page) => {
  await field(page).focus();
  await enter(page, title);
};

describe('axe finds no violation on phones and desktops, light and dark:', () => {
  test.each([
    ['refused', add(' '), '[role=alert]'],
    ['added elsewhere', add('tea'), '#notice a', '/?filter=finished'],
    ['deleted', click('Delete: milk'), '#notice button'],
    ['finished', click('Finish: milk'), '#notice button'],
  ])('the list %s', async (name, act, there, path = '/') => {
    await site.add('milk', 'bread');
    const page = await open(true, path);
    await act(page);
    await page.locator(there).first().waitFor();
    expect(await faults(page, name)).toEqual([]);
  });

  test.each([true, false])('an edited task that others delete (scripts: %s)', async (scripts) => {
    await site.add('milk', 'bread');
    const page = await open(scripts);
    await click('Edit: milk')(page);
    const title = page.locator('#title-1');
    await title.waitFor();
    expect(new URL(page.url()).pathname).toBe(scripts ? '/' : '/tasks/1/edit');
    expect(await faults(page, 'editing', scripts)).toEqual([]);
    await site.store.destroy('1', 'gone');
    await title.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await faults(page, 'edited and deleted', scripts)).toEqual([]);
  });

  test.each([
    ['an empty list', []],
    ['three tasks', ['milk', 'bread', 'tea']],
    ['the second page', many, '/?after=-4503599627370498'],
    ['long and right-to-left titles', strange],
  ])('%s', async (name, titles, path = '/') => {
    await site.add(...titles);
    if (titles.length > 0) await site.store.update(`${titles.length}`, { finished: 1 }, new Date());
    expect(await faults(await open(true, path), name)).toEqual([]);
  });

  test('a pasted list and an error notice', async () => {
    await site.add('milk');
    const page = await open(true);
    await paste(page, 'bread\ntea');
    await page.getByRole('button', { name: 'Add 2 tasks' }).waitFor();
    await page.route('**/finish', (route) => route.abort());
    await click('Finish: milk')(page);
    await page.getByRole('button', { name: 'Close' }).waitFor();
    expect(await faults(page, 'pasted')).toEqual([]);
    await page.unroute('**/finish');
  });

  test.each([
    ['one task', '/tasks/1', 200],
    ['a new task', '/tasks/new', 200],
    ['the import', '/tasks/import', 200],
    ['nothing deleted', '/tasks/removals', 200],
    ['recently deleted', '/tasks/removals?restored=2', 200],
    ['the keys', '/public/keys.html', 200],
    ['an unknown task', '/tasks/7', 404],
  ])('%s', async (name, path, status) => {
    await site.add('milk', 'oat milk');
    if (path.includes('restored')) await site.store.destroy('2', 'a-removal');
    expect(await faults(await open(true, path, status), name)).toEqual([]);
  });

  test('a form that is too large (without scripts)', async () => {
    const page = await open(false);
    await field(page).fill('x'.repeat(70_000));
    await page.keyboard.press('Enter');
    await page.getByText('Error 413').waitFor();
    expect(await faults(page, 'too large')).toEqual([]);
  });

  test('the store is down', async () => {
    await site.withoutStore(async () => {
      expect(await faults(await open(true, '/', 503), 'store away')).toEqual([]);
    });
  });
});

test('Tab reaches every control in page order, with a visible focus', async () => {
  await site.add('milk');
  await site.store.update('1', { finished: 1 }, new Date());
  const page = await open(true);
  await page.setViewportSize({ width: 1280, height: 720 });
  const focused = () =>
    page.evaluate(`(({ ariaLabel, name, textContent }, { outlineStyle, outlineWidth }) =>
      [ariaLabel || name || textContent, outlineStyle, outlineWidth]
    )(document.activeElement, getComputedStyle(document.activeElement))`);
  const above = 'title, Add, Keyboard shortcuts, All, Open, Finished, Skip the list';
  const below = 'Clear finished, Import, text, JSON, Recently deleted';
  for (const control of `${above}, Reopen: milk, Edit: milk, Delete: milk, ${below}`.split(', ')) {
    await poll(focused).toEqual([control, 'solid', '2px']);
    await page.keyboard.press('Tab');
  }
});

test('Print shows the tasks and no controls', async () => {
  await site.add('milk');
  const page = await open(true);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByText('milk').isVisible()).toBe(true);
  const seen = `[...document.querySelectorAll('button, input, nav, footer, #notice, .keys, .skip')]
    .filter((control) => control.checkVisibility()).map(({ outerHTML }) => outerHTML)`;
  expect(await page.evaluate(seen)).toEqual([]);
});
