import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  edit,
  enter,
  field,
  focused,
  notice,
  paste,
  poll,
  stored,
  titles,
  useBrowser,
} from '../../testing/browser.ts';

const site = useBrowser();

test('A page that the browser has translated saves no translation', async () => {
  await site.add('Brot');
  const page = await site.open();
  expect(await page.locator('.title').getAttribute('translate')).toBe('no');
  // Some translators ignore the attribute.
  await page.evaluate("document.querySelector('.title').textContent = 'bread'");
  await edit(page, 1, ' und Tee');
  await page.keyboard.press('Enter');
  await poll(() => notice(page)).toContain('Saved: Brot und Tee');
  expect(await stored(site)).toEqual(['Brot und Tee']);
  expect(await page.locator('#notice bdi').getAttribute('translate')).toBe('no');
});

/** Presses a key that ends a composition, as Safari reports it. */
const pressInSafari = (page: Page, key: string) =>
  page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
    { key: '${key}', keyCode: 229, bubbles: true, cancelable: true }))`);

test('A key that ends a composition in Safari does nothing else', async () => {
  await site.add('milk');
  const page = await site.open();
  await edit(page, 1, ' kanji');
  for (const key of ['Escape', 'Enter']) await pressInSafari(page, key);
  expect(await page.locator('#title-1').inputValue()).toBe('milk kanji');
  expect(await focused(page)).toBe('title-1');
  await page.keyboard.press('Escape');
  await poll(() => focused(page)).toBe('task-1');
  await pressInSafari(page, 'Delete');
  expect(await titles(page)).toEqual(['milk']);
});

describe('A pasted text over 1 MiB', () => {
  const long = 'milk and bread\n'.repeat(220_000);
  test('is refused before the list shows it, with the way out', async () => {
    const page = await site.open();
    await paste(page, long);
    await poll(() => page.getByRole('alert').textContent()).toBe(
      'The pasted text is too long (3.1 MiB). Paste at most 1 MiB at once, or import it as several files.',
    );
    expect(await page.locator('form.lines').count()).toBe(0);
    await paste(page, 'milk\nbread');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => stored(site)).toEqual(['milk', 'bread']);
  });

  test('is refused on the import page', async () => {
    const page = await site.open('/tasks/import');
    const isRefused = await page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'milk and bread\\n'.repeat(220_000));
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.getElementById('text').dispatchEvent(event);
      return event.defaultPrevented;
    })()`);
    expect(isRefused).toBe(true);
    await poll(() => page.getByRole('alert').textContent()).toContain('too long (3.1 MiB)');
  });
});

describe.each([
  ['full', "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"],
  [
    'blocked',
    "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('blocked', 'SecurityError'); } })",
  ],
  ['null', "Object.defineProperty(window, 'sessionStorage', { get: () => null })"],
])('If the storage of the browser is %s', (_, script) => {
  test.each(['/', '/tasks/new'])('%s works without drafts', async (path) => {
    const page = await site.openNew('about:blank');
    await page.addInitScript(script);
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(new URL(path, site.url).href);
    await field(page).focus();
    await enter(page, 'milk');
    await poll(() => titles(page)).toEqual(['milk']);
    await edit(page, 1, ' and tea');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk and tea']);
    expect(errors).toEqual([]);
  });
});
