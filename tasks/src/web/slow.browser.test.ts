import type { Page } from 'playwright-core';
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

/** Types each text where the cursor is, and Enter. */
async function enter(page: Page, ...texts: string[]) {
  for (const text of texts) {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }
}

/** Nothing is under way any more. */
const idle = (page: Page) => poll(() => page.locator('body.busy').count()).toBe(0);

describe('On a slow connection a change shows at once', () => {
  const finish = (page: Page, title: string) =>
    page.getByRole('link', { name: `Finish: ${title}`, exact: true }).click();

  test('a finished task is struck out, a reopened one is not, again and again, and then they move', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    await site.store.update('2', { finished: 1 }, new Date());
    const page = await site.open();
    const connection = await slow(page, '**/task/*/*');
    const last = await slow(page, '**/task/3/unfinish');
    await finish(page, 'tea');
    await poll(() => titles(page)).toEqual(['rice', 'milk', '(tea)', '(bread)']);
    await finish(page, 'milk');
    await page.getByRole('link', { name: 'Reopen: bread' }).click();
    await finish(page, 'tea');
    await poll(() => titles(page)).toEqual(['rice', 'tea', 'bread', '(milk)']);
    expect((await site.store.show('3')).finished).toBe(0);
    connection.letGo();
    await poll(() => titles(page)).toEqual(['rice', 'bread', 'tea', '(milk)']);
    last.letGo();
    await idle(page);
    const shown = ['rice', 'tea', 'bread', '(milk)'];
    expect(await titles(page)).toEqual(shown);
    await page.reload();
    expect(await titles(page)).toEqual(shown);
  });

  test('finished tasks leave the open ones one by one, and others may change the list meanwhile', async () => {
    await site.add('milk', 'bread', 'rice');
    const page = await site.open('/?filter=open');
    const [first, second] = [await slow(page, '**/task/3/*'), await slow(page, '**/task/1/*')];
    await finish(page, 'rice');
    await finish(page, 'milk');
    await poll(() => titles(page)).toEqual(['bread', '(rice)', '(milk)']);
    await site.add('tea');
    first.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', '(milk)']);
    second.letGo();
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

  test('a filter waits for what is under way', async () => {
    await site.add('milk', 'bread');
    const page = await site.open();
    const connection = await slow(page, '**/task/*/*');
    await finish(page, 'milk');
    await page.getByRole('link', { name: 'Finished', exact: true }).click();
    connection.letGo();
    await poll(() => titles(page)).toEqual(['(milk)']);
    expect(page.url()).toContain('filter=finished');
  });

  test('a page with changes under way asks before it is left', async () => {
    await site.add('milk');
    const page = await site.openNew('/');
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
  test('the field takes the next task at once', async () => {
    const page = await site.open();
    const connection = await slow(page, '**/task');
    await enter(page, 'milk', 'bread', 'bread', 'tea');
    expect(await field(page).inputValue()).toBe('');
    // Empty, it sends nothing.
    await page.keyboard.press('Enter');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['tea', 'bread', 'bread', 'milk']);
    expect(connection.sent).toBe(4);
  });

  test('where the first does not get through, all comes back to the field, and is sent when asked', async () => {
    const page = await site.open();
    const held = Promise.withResolvers<void>();
    await page.route('**/task', (route) => held.promise.then(() => route.abort()), { times: 1 });
    await enter(page, 'milk', 'bread');
    await page.keyboard.type('tea');
    held.resolve();
    await poll(() => page.locator('.problem').textContent()).toBe('Not saved: no connection.');
    await idle(page);
    expect(await field(page).inputValue()).toBe('milk bread tea');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk bread tea']);
  });

  test('an edit is locked while it is saved, and sent once', async () => {
    await site.add('milk');
    const page = await site.open();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    const title = page.getByLabel('Title');
    const connection = await slow(page, '**/tasks/1');
    await title.fill('oat milk');
    await page.keyboard.press('Enter');
    await enter(page, ', two');
    expect(await title.inputValue()).toBe('oat milk');
    connection.letGo();
    await poll(() => titles(page)).toEqual(['oat milk']);
    await idle(page);
    expect(connection.sent).toBe(1);
  });
});

test('What was saved though it seemed to fail waits in the field for Enter, and is one task', async () => {
  const page = await site.open();
  let sent = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') sent += 1;
  });
  await site.whileStoreHangs(async () => {
    await enter(page, 'milk');
    await poll(() => page.locator('.problem').textContent()).toMatch(/cannot be reached/);
  });
  await poll(() => titles(page)).toEqual(['milk']);
  await idle(page);
  expect([await field(page).inputValue(), sent]).toEqual(['milk', 1]);
  await page.keyboard.press('Enter');
  await idle(page);
  expect(await titles(page)).toEqual(['milk']);
  expect(await field(page).inputValue()).toBe('');
  await enter(page, 'milk');
  await poll(() => titles(page)).toEqual(['milk', 'milk']);
});
