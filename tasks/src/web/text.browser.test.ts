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

test.each([true, false])(
  'A tab becomes a space in the field and in an edit (scripts: %s)',
  async (javaScriptEnabled) => {
    const page = await site.open('/', { javaScriptEnabled });
    await field(page).fill('milk\t2 l');
    await field(page).press('Enter');
    await poll(() => titles(page)).toEqual(['milk 2 l']);
    await page.getByRole('link', { name: 'Edit: milk 2 l' }).click();
    await page.getByLabel('Title').fill('milk\t3 l');
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(() => titles(page)).toEqual(['milk 3 l']);
  },
);

describe('A pasted text over 1 MiB', () => {
  const long = 'milk and bread\n'.repeat(220_000);
  test('is refused before the list shows it, with the way out', async () => {
    const page = await site.open();
    await paste(page, long);
    await poll(() => page.getByRole('alert').textContent()).toBe(
      'This text is too long (3.2 MiB). Add at most 1 MiB at once, or import it as several files.',
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
    await poll(() => page.getByRole('alert').textContent()).toContain('too long (3.2 MiB)');
  });
});

describe('A list shows what will be added before it is:', () => {
  const preview = (page: Page) => page.locator('.preview span').allTextContents();

  test('in the list', async () => {
    const page = await site.open();
    await paste(page, '1. milk\n2. bread\n3. [x] tea');
    await poll(() => preview(page)).toEqual(['First: milk', 'Last, finished: tea']);
    const area = page.getByLabel('One task on each line');
    await area.fill('3. Oktober\n12. Mai\n');
    await poll(() => preview(page)).toEqual(['First: 3. Oktober', 'Last: 12. Mai']);
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => stored(site)).toEqual(['3. Oktober', '12. Mai']);
  });

  test('on the import page, even after a reload', async () => {
    const page = await site.open('/tasks/import');
    await poll(() => preview(page)).toEqual([]);
    await page.getByLabel('One task on each line').fill('* milk\n* ☑ bread');
    await poll(() => preview(page)).toEqual(['First: milk', 'Last, finished: bread']);
    await page.reload();
    await poll(() => preview(page)).toEqual(['First: milk', 'Last, finished: bread']);
  });
});

describe('A list just below 1 MiB', () => {
  const lines = Array.from({ length: 2_500 }, (_, i) => `${i} ${'é'.repeat(205)}`);
  const list = lines.join('\n');
  expect(Buffer.byteLength(list)).toBeGreaterThan(0.98 * 1024 ** 2);

  const expectAll = async (page: Page) => {
    await poll(() => page.locator('#count').textContent()).toBe('2,500 open, 0 finished');
    expect((await stored(site))[0]).toBe(lines[0]);
  };

  test('can be pasted into the list, but not twice at once', async () => {
    const page = await site.open();
    await paste(page, list);
    await page.getByRole('button', { name: 'Add 2500 tasks' }).waitFor();
    await paste(page, list);
    await poll(() => page.getByRole('alert').textContent()).toContain('too long (2.0 MiB)');
    await page.getByRole('button', { name: 'Add 2500 tasks' }).click();
    await expectAll(page);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => notice(page)).toContain('Undone: 2,500 tasks deleted.');
  });

  test.each([true, false])('can be imported from the form (scripts: %s)', async (javaScriptEnabled) => {
    const page = await site.open('/tasks/import', { javaScriptEnabled });
    if (javaScriptEnabled) await paste(page, list, 'text');
    else await page.evaluate(`document.getElementById('text').value = ${JSON.stringify(list)}`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('2,500 tasks imported').waitFor();
    await page.getByRole('link', { name: 'See the tasks' }).click();
    await expectAll(page);
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
