import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, poll, titles, useBrowser } from '../testing/browser.ts';

const site = useBrowser();

/** Holds back what `page` sends to `path` until it is let go, as a slow connection does; counts what was sent. */
async function slow(page: Page, path: string) {
  const held = Promise.withResolvers<void>();
  const seen = { sent: 0, letGo: held.resolve };
  await page.route(path, async (route) => {
    if (route.request().method() === 'POST') seen.sent += 1;
    await held.promise;
    await route.continue();
  });
  return seen;
}

describe('On a slow connection', () => {
  test('what is typed behind a task that is being added can be added as well, as often as one likes', async () => {
    const page = await site.open();
    const connection = await slow(page, '**/task');
    for (const title of ['milk', 'bread', 'bread', 'tea']) {
      await page.keyboard.type(title);
      await page.keyboard.press('Enter');
    }
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(connection.sent).toBe(4);
  });

  test('a task typed in place of one that is being added waits its turn and is added', async () => {
    const page = await site.open();
    const connection = await slow(page, '**/task');
    for (const title of ['one', 'two']) {
      await field(page).fill(title);
      await page.keyboard.press('Enter');
    }
    expect(await field(page).inputValue()).toBe('two');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['two', 'one']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('the same text is sent once, however often Enter is pressed', async () => {
    const page = await site.open();
    const connection = await slow(page, '**/task');
    await page.keyboard.type('milk');
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    connection.letGo();
    await poll(() => titles(page)).toEqual(['milk']);
    await poll(() => page.locator('body.busy').count()).toBe(0);
    expect(connection.sent).toBe(1);
  });

  test('where the first does not get through, what waits behind it stays in the field, and is sent when asked', async () => {
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.abort()), { times: 1 });
    for (const title of ['milk', ' and bread']) {
      await page.keyboard.type(title);
      await page.keyboard.press('Enter');
    }
    held.resolve();
    await poll(() => page.locator('.problem').textContent()).toContain('This did not get through.');
    expect(await field(page).inputValue()).toBe('milk and bread');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk and bread']);
  });

  test('where one that was typed over does not get through, it is named, and the one in its place is not sent', async () => {
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.abort()), { times: 1 });
    for (const title of ['one', 'two']) {
      await field(page).fill(title);
      await page.keyboard.press('Enter');
    }
    held.resolve();
    await poll(() => page.locator('.problem').textContent()).toContain(
      '“one” was not saved. This did not get',
    );
    expect(await field(page).inputValue()).toBe('two');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['two']);
  });

  test('an edit goes on where it is edited further, and ends with what was sent last', async () => {
    await site.add('milk');
    const page = await site.open();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    const title = page.getByLabel('Title');
    const connection = await slow(page, '**/tasks/1');
    for (const text of ['oat milk', 'oat milk, two']) {
      await title.fill(text);
      await page.keyboard.press('Enter');
    }
    connection.letGo();
    await poll(() => titles(page)).toEqual(['oat milk, two']);
    expect(connection.sent).toBe(2);
    await poll(() => title.count()).toBe(0);
  });

  test('what is typed on while an edit is saved stays, and can be saved', async () => {
    await site.add('milk');
    const page = await site.open();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    const title = page.getByLabel('Title');
    const connection = await slow(page, '**/tasks/1');
    await title.fill('oat milk');
    await page.keyboard.press('Enter');
    await page.keyboard.type(', two');
    connection.letGo();
    await poll(() => page.locator('#notice').textContent()).toBe('Saved: oat milk');
    await poll(() => page.locator('body.busy').count()).toBe(0);
    expect(await title.inputValue()).toBe('oat milk, two');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['oat milk, two']);
  });
});
