import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { field, focused, poll, show, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

let page: Page;
beforeAll(async () => {
  page = await site.pageForAll({ javaScriptEnabled: false });
});

/** Opens `path` without a cookie. */
async function open(path = '/'): Promise<Page> {
  await page.context().clearCookies();
  await show(page, path);
  return page;
}
const alert = (page: Page) => page.getByRole('alert').textContent();

describe('The list page without JavaScript', () => {
  test('has the focus in its one field, and Enter adds what is typed there', async () => {
    const page = await open();
    await page.keyboard.type('milk');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
    await poll(() => focused(page)).toBe('title');
    await page.keyboard.type('bread');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('finishes and reopens a task', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await page.getByRole('link', { name: 'Finish: bread' }).click();
    await poll(() => titles(page)).toEqual(['milk', '(bread)']);
    await page.getByRole('link', { name: 'Reopen: bread' }).click();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('edits a task on a page of its own', async () => {
    await site.add('milk');
    const page = await open();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    await page.getByLabel('Title').fill('oat milk');
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(() => titles(page)).toEqual(['oat milk']);
  });

  test('an edit of a task that somebody else changed keeps the text and can be sent again', async () => {
    await site.add('milk');
    const page = await open('/tasks/1/edit');
    await site.store.update('1', { title: 'oat milk' }, new Date());
    await page.getByLabel('Title').fill('milk and honey');
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('oat milk');
    await poll(() => page.getByLabel('Title').inputValue()).toBe('milk and honey');
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(() => titles(page)).toEqual(['milk and honey']);
  });

  test('an edit of a task that somebody deleted keeps the text and can be added', async () => {
    await site.add('milk');
    const page = await open('/tasks/1/edit');
    await site.store.destroy('1', 'gone');
    await page.getByLabel('Title').fill('milk and honey');
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('Somebody deleted this task');
    await page.getByRole('button', { name: 'Add' }).click();
    await poll(() => titles(page)).toEqual(['milk and honey']);
  });

  test('deletes a task without asking, and the page after it offers Undo', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await page.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => titles(page)).toEqual(['bread']);
    await poll(() => page.locator('#notice').textContent()).toMatch(/^\s*Deleted: milk\s+Undo\s*$/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('several deletions can all be taken back, also when their pages are gone', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    for (const id of ['1', '2']) await site.store.update(id, { finished: 1 }, new Date());
    const page = await open();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await page.getByRole('button', { name: 'Delete: tea' }).click();
    await page.goto('/');
    await page.getByRole('link', { name: 'Recently deleted' }).click();
    await page.getByRole('button', { name: 'Restore: tea' }).click();
    await poll(() => page.getByRole('status').textContent()).toBe('Restored 1 task.');
    await poll(() => page.locator('.what').textContent()).toBe('bread and 1 more');
    await page.getByRole('button', { name: 'Restore: bread' }).click();
    await poll(() => page.getByRole('status').textContent()).toBe('Restored 2 tasks.');
    await poll(() => page.locator('main').textContent()).toContain('Nothing that was deleted');
    await page.getByRole('link', { name: 'All tasks' }).click();
    await poll(() => titles(page)).toEqual(['rice', 'tea', '(bread)', '(milk)']);
  });

  test('clears the finished tasks, and the page after it offers Undo', async () => {
    await site.add('milk', 'bread', 'tea');
    for (const id of ['1', '2']) await site.store.update(id, { finished: 1 }, new Date());
    const page = await open();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await poll(() => titles(page)).toEqual(['tea']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(page)).toEqual(['tea', '(bread)', '(milk)']);
  });

  test('shows all, open or finished tasks by links, and Back works', async () => {
    await site.add('milk', 'bread');
    await site.store.update('1', { finished: 1 }, new Date());
    const page = await open();
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await poll(() => titles(page)).toEqual(['bread']);
    await page.getByRole('link', { name: 'Finished', exact: true }).click();
    await poll(() => titles(page)).toEqual(['(milk)']);
    await page.goBack();
    await poll(() => titles(page)).toEqual(['bread']);
  });

  test('leads through the pages of a long list and back to the first', async () => {
    await site.add(...Array.from({ length: 101 }, (_, i) => `task ${i + 1}`));
    const page = await open();
    await page.getByRole('link', { name: 'Next' }).click();
    await poll(() => titles(page)).toEqual(['task 1']);
    await poll(() => page.getByRole('navigation', { name: 'Pages' }).textContent()).toMatch(/Page 2 of 2/);
    await page.getByRole('link', { name: 'Previous' }).click();
    await poll(async () => (await titles(page)).length).toBe(100);
  });

  test('a double click makes one task', async () => {
    const page = await open();
    await field(page).fill('milk');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    await poll(() => titles(page)).toEqual(['milk']);
    expect((await site.store.list({ filter: 'all' }))?.open).toBe(1);
  });

  test('imports a task for each line, and says which lines it could not take', async () => {
    const page = await open();
    await page.getByRole('link', { name: 'Import' }).click();
    await page.getByLabel('One task on each line').fill(`milk\n${'x'.repeat(501)}\nbread`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await poll(() => page.getByRole('status').textContent()).toContain(
      '2 tasks imported, 1 left below to correct.',
    );
    await poll(() => page.getByRole('status').textContent()).toContain('A title has at most 500');
    const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    const wide = page.viewportSize();
    await page.setViewportSize({ width: 360, height: 640 });
    expect(await overflow()).toBeLessThanOrEqual(0);
    if (wide) await page.setViewportSize(wide);
    await poll(() => page.getByLabel('One task on each line').inputValue()).toBe('x'.repeat(501));
    await page.getByRole('link', { name: 'See the tasks' }).click();
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
  });

  test('says times without a doubt about their zone', async () => {
    await site.store.create({ title: 'milk' }, new Date('2024-02-29T23:30:15.678Z'));
    const page = await open();
    await poll(() => page.locator('time').textContent()).toBe('29 Feb 2024, 23:30 UTC');
  });
});

describe('What goes wrong without JavaScript', () => {
  test('a refused title comes back in its field, which says why beside it and has the focus', async () => {
    const page = await open();
    const long = 'x'.repeat(501);
    await field(page).fill(long);
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('at most 500 characters');
    await poll(() => field(page).inputValue()).toBe(long);
    await poll(() => field(page).getAttribute('aria-invalid')).toBe('true');
    await poll(() => field(page).getAttribute('aria-describedby')).toBe('problem');
    await poll(() => focused(page)).toBe('title');
  });

  test('an expired session costs no text: the same form can be sent again', async () => {
    const page = await open();
    await field(page).fill('milk');
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('expired');
    await poll(() => field(page).inputValue()).toBe('milk');
    await field(page).press('Enter');
    await poll(() => titles(page)).toEqual(['milk']);
  });

  test.each([
    ['an unknown page', '/nothing', 'There is no such page.'],
    ['an unknown task', '/tasks/7', 'Somebody deleted this task'],
    ['an unknown filter', '/?filter=some', 'There is no such list'],
  ])('%s is said in words, with a way back', async (_case, path, words) => {
    const page = await open(path);
    await poll(() => page.locator('h1').textContent()).toContain(words);
    await page.getByRole('link', { name: 'All tasks' }).click();
    await poll(() => page.locator('h1').textContent()).toBe('Tasks');
  });
});
