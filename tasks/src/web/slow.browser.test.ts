import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, poll, titles, useBrowser } from '../../testing/browser.ts';

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

/** An open list whose connection is slow when a task is added. */
async function adding() {
  const page = await site.open();
  return { page, connection: await slow(page, '**/task') };
}

/** The same with an edit of its one task, which is slow to be saved. */
async function editing() {
  await site.add('milk');
  const page = await site.open();
  await page.getByRole('link', { name: 'Edit: milk' }).click();
  return { page, title: page.getByLabel('Title'), connection: await slow(page, '**/tasks/1') };
}

/** An edit that was saved, and was typed on behind meanwhile; `before` comes before it was saved. */
async function editingOn(before: (page: Page) => Promise<unknown> = async () => {}) {
  const { page, title, connection } = await editing();
  await title.fill('oat milk');
  await page.keyboard.press('Enter');
  await page.keyboard.type(', two');
  await before(page);
  connection.letGo();
  await poll(() => page.locator('#notice').textContent()).toBe('Saved: oat milk');
  await idle(page);
  return { page, title };
}

/** Types each text where the cursor is, and Enter. */
async function enter(page: Page, ...texts: string[]) {
  for (const text of texts) {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }
}

/** Puts each text in place of all that is in `input`, and Enter. */
async function replace(input: Locator, ...texts: string[]) {
  for (const text of texts) {
    await input.fill(text);
    await input.page().keyboard.press('Enter');
  }
}

/** Nothing is under way any more. */
const idle = (page: Page) => poll(() => page.locator('body.busy').count()).toBe(0);

describe('On a slow connection a change shows at once', () => {
  const finish = (page: Page, title: string) =>
    page.getByRole('link', { name: `Finish: ${title}`, exact: true }).click();

  test('finishing and reopening put a task in its place, again and again', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    await site.store.update('2', { finished: 1 }, new Date());
    const page = await site.open();
    const connection = await slow(page, '**/task/*/*');
    await finish(page, 'tea');
    await poll(() => titles(page)).toEqual(['rice', 'milk', '(tea)', '(bread)']);
    await finish(page, 'milk');
    await poll(() => titles(page)).toEqual(['rice', '(tea)', '(bread)', '(milk)']);
    await page.getByRole('link', { name: 'Reopen: bread' }).click();
    await page.getByRole('link', { name: 'Reopen: tea' }).click();
    await poll(() => titles(page)).toEqual(['rice', 'tea', 'bread', '(milk)']);
    await finish(page, 'tea');
    const shown = ['rice', 'bread', '(tea)', '(milk)'];
    await poll(() => titles(page)).toEqual(shown);
    expect((await site.store.show('3')).finished).toBe(0);
    connection.letGo();
    await idle(page);
    await page.reload();
    expect(await titles(page)).toEqual(shown);
  });

  test('a finished task leaves the open ones, and others may change the list meanwhile', async () => {
    await site.add('milk', 'bread');
    const page = await site.open('/?filter=open');
    const connection = await slow(page, '**/task/*/*');
    await finish(page, 'milk');
    await poll(() => titles(page)).toEqual(['bread']);
    connection.letGo();
    await idle(page);
    await site.add('tea');
    await poll(() => titles(page)).toEqual(['tea', 'bread']);
  });

  test('deleting and clearing take tasks away, and the rest of the page stays as it is', async () => {
    await site.add('milk', 'bread', 'tea');
    await site.store.update('3', { finished: 1 }, new Date());
    const page = await site.open();
    const connection = await slow(page, '**/tasks/{1,finished}');
    await page.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => titles(page)).toEqual(['bread', '(tea)']);
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await poll(() => titles(page)).toEqual(['bread']);
    expect(await page.evaluate("getComputedStyle(document.getElementById('list')).opacity")).toBe('1');
    connection.letGo();
    await idle(page);
    expect(await titles(page)).toEqual(['bread']);
  });

  test.each([
    ['link', 'Finish: milk'],
    ['button', 'Delete: milk'],
  ] as const)('what is not saved is taken back, with a word (%s %s)', async (role, name) => {
    await site.add('milk', 'bread');
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route(/\/tasks?\/1/, (route) => held.promise.then(() => route.abort()));
    await page.getByRole(role, { name }).click();
    await poll(async () => (await titles(page)).includes('milk')).toBe(false);
    held.resolve();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(() => page.locator('#notice').textContent()).toContain('Not saved: no connection.');
  });

  test('a page with changes under way asks before it is left', async () => {
    await site.add('milk');
    const page = await site.open('/', {});
    const connection = await slow(page, '**/task/*/*');
    await finish(page, 'milk');
    const asked = page.waitForEvent('dialog');
    const closed = page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await closed;
    connection.letGo();
    await poll(async () => (await site.store.show('1')).finished).toBe(1);
  });
});

describe('On a slow connection', () => {
  test('what is typed behind a task that is being added can be added as well, as often as one likes', async () => {
    const { page, connection } = await adding();
    await enter(page, 'milk', 'bread', 'bread', 'tea');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(connection.sent).toBe(4);
  });

  test('a task typed in place of one that is being added waits its turn and is added', async () => {
    const { page, connection } = await adding();
    await replace(field(page), 'one', 'two');
    expect(await field(page).inputValue()).toBe('two');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['two', 'one']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('the same text is sent once, however often Enter is pressed', async () => {
    const { page, connection } = await adding();
    await page.keyboard.type('milk');
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    connection.letGo();
    await poll(() => titles(page)).toEqual(['milk']);
    await idle(page);
    expect(connection.sent).toBe(1);
  });

  test('where the first does not get through, what waits stays in the field, and is sent when asked', async () => {
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.abort()), { times: 1 });
    await enter(page, 'milk', ' and bread');
    held.resolve();
    await poll(() => page.locator('.problem').textContent()).toBe('Not saved: no connection.');
    expect(await field(page).inputValue()).toBe('milk and bread');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk and bread']);
  });

  test('where one does not get through, those that were typed over are named, and no other is sent', async () => {
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.abort()), { times: 1 });
    await replace(field(page), 'one', 'two', 'two or three');
    held.resolve();
    await poll(() => page.locator('.problem').textContent()).toContain(
      '“one” was not saved. “two” was not saved. Not saved: no connection.',
    );
    expect(await field(page).inputValue()).toBe('two or three');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['two or three']);
  });

  test.each([
    ['begins like it', ['tea', 'teapot']],
    ['ends like it', ['pot', 'teapot']],
    ['is typed in place of several', ['A', 'AB', 'Bread']],
    ['was sent before', ['tea', 'milk', 'tea']],
  ])('a task typed in place of one that is being added is added whole where it %s', async (_, all) => {
    const { page, connection } = await adding();
    await replace(field(page), ...all);
    connection.letGo();
    await poll(() => titles(page)).toEqual(all.toReversed());
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('a task typed letter by letter in place of two that are being added stays whole, and can be added', async () => {
    const { page, connection } = await adding();
    await enter(page, 'A', 'B');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('ABread');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['B', 'A']);
    await idle(page);
    expect(await field(page).inputValue()).toBe('ABread');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['ABread', 'B', 'A']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('a replacement that was not sent stays whole when the one before it is added', async () => {
    const { page, connection } = await adding();
    await page.keyboard.type('tea');
    await page.keyboard.press('Enter');
    await field(page).fill('teapot');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea']);
    await idle(page);
    expect(await field(page).inputValue()).toBe('teapot');
  });

  test('the same text typed anew is the one that is being added, and leaves the field with it', async () => {
    const { page, connection } = await adding();
    for (let i = 0; i < 2; i += 1) {
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type('tea');
      await page.keyboard.press('Enter');
    }
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(connection.sent).toBe(1);
  });

  test('Enter changes nothing, wherever the cursor is', async () => {
    const { page, connection } = await adding();
    await enter(page, 'milk', 'bread');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(connection.sent).toBe(2);
  });

  test('what is left after Backspace is a task of its own', async () => {
    const { page, connection } = await adding();
    for (const key of ['t', 'e', 'a', 's', 'Enter', 'Backspace', 'Enter']) await page.keyboard.press(key);
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'teas']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('an input method that takes up the last word again types behind it', async () => {
    const { page, connection } = await adding();
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    const browser = await page.context().newCDPSession(page);
    const word = { selectionStart: 5, selectionEnd: 5, replacementStart: 0, replacementEnd: 4 };
    await browser.send('Input.imeSetComposition', { text: 'milkb', ...word });
    await page.keyboard.insertText('milkbread');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['milk']);
    await poll(() => field(page).inputValue()).toBe('bread');
  });

  test('an edit goes on where it is edited further, and ends with what was sent last', async () => {
    const { page, title, connection } = await editing();
    await replace(title, 'oat milk', 'oat milk, two');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['oat milk, two']);
    expect(connection.sent).toBe(2);
    await poll(() => title.count()).toBe(0);
  });

  test('what is typed on while an edit is saved stays, and can be saved', async () => {
    const { page, title } = await editingOn();
    expect(await title.inputValue()).toBe('oat milk, two');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['oat milk, two']);
  });

  test('an edit that was saved counts as saved, though nothing gets through after it', async () => {
    const { page, title } = await editingOn((page) =>
      page.route('**/tasks/1/edit', (route) => route.abort(), { times: 1 }),
    );
    expect(await page.locator('.problem').count()).toBe(0);
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.problem').textContent()).toBe('Not saved: no connection.');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['oat milk, two']);
    await poll(() => title.count()).toBe(0);
  });

  test('a change of somebody else is not lost to an edit that goes on after it was saved', async () => {
    const { page, title } = await editingOn();
    await site.store.update('1', { title: 'soy milk' }, new Date());
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.problem').textContent()).toContain('soy milk');
    expect(await title.inputValue()).toBe('oat milk, two');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['oat milk, two']);
  });
});

describe('What was saved though it seemed to fail', () => {
  const failed = (page: Page) =>
    poll(() => page.locator('.problem').textContent()).toMatch(/cannot be reached/);

  test('leaves the field once the store is back, and is one task', async () => {
    const page = await site.open();
    await site.whileStoreHangs(async () => {
      await enter(page, 'milk');
      await failed(page);
    });
    await poll(() => field(page).inputValue()).toBe('');
    expect(await page.locator('.problem').count()).toBe(0);
    await enter(page, 'bread');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('is saved as an edit as well', async () => {
    await site.add('milk');
    const page = await site.open();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    await page.getByLabel('Title').fill('oat milk');
    await site.whileStoreHangs(async () => {
      await page.keyboard.press('Enter');
      await failed(page);
    });
    await poll(() => titles(page)).toEqual(['oat milk']);
    expect(await page.locator('.problem').count()).toBe(0);
  });

  test('stays in the field where it was edited since', async () => {
    const page = await site.open();
    await site.whileStoreHangs(async () => {
      await enter(page, 'milk');
      await failed(page);
      await page.keyboard.type(', two');
    });
    await poll(() => titles(page)).toEqual(['milk']);
    await idle(page);
    expect(await field(page).inputValue()).toBe('milk, two');
  });
});
