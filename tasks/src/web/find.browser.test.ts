import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { enter, field, focused, poll, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();
const now = new Date().toISOString();

/** Adds open tasks named `Task 1` and so on. The last task is at the top of the list. */
const addMany = (count: number) =>
  site.store.insert(
    Array.from({ length: count }, (_, i) => ({ title: `Task ${i + 1}`, finished: 0, created_at: now })),
  );
const findField = (page: Page) => page.getByRole('searchbox', { name: 'Find' });

test("The search field appears and disappears only after the user's own change, and keeps typed text", async () => {
  await addMany(100);
  const page = await site.open();
  const counted = (count: number) => page.getByText(`${count} open, 0 finished`, { exact: true }).waitFor();
  const [tea = ''] = await site.add('tea');
  await counted(101);
  expect(await findField(page).count()).toBe(0);
  await enter(page, 'milk');
  await findField(page).pressSequentially('mil');
  const before = await findField(page).boundingBox();
  for (const id of [tea, '1', '2']) await site.store.destroy(id, id);
  await counted(99);
  expect(await findField(page).boundingBox()).toEqual(before);
  await enter(page, 'k');
  await poll(() => titles(page)).toEqual(['milk']);
});

describe.each([true, false])('Find (scripts: %s)', (javaScriptEnabled) => {
  test('shows the matches, even after a change', async () => {
    await addMany(120);
    await site.add('Crème brûlée', 'Ice cream');
    const page = await site.open('/', { javaScriptEnabled });
    await findField(page).fill('CREME');
    await findField(page).press('Enter');
    await poll(() => titles(page)).toEqual(['Crème brûlée']);
    await poll(() => page.locator('.found').textContent()).toContain('1 match in 122 tasks.');
    expect(await page.title()).toBe('Find: CREME · Tasks');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    await page.getByRole('link', { name: 'Finish: Crème brûlée' }).click();
    await poll(() => titles(page)).toEqual(['(Crème brûlée)']);
    await field(page).focus();
    await enter(page, 'milk');
    await page.getByText('Added: milk').waitFor();
    expect(await titles(page)).toEqual(['(Crème brûlée)']);
    // The Clear finished button would also remove tasks that do not match.
    expect(await page.getByRole('button', { name: 'Clear finished' }).isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await poll(() => page.locator('.found').textContent()).toContain('No match in 122 tasks.');
    await page.getByRole('link', { name: 'Show all tasks' }).click();
    await poll(() => page.url()).toBe(site.url);
  });

  test('has a link that skips the rows of the list', async () => {
    await addMany(101);
    const page = await site.open('/', { javaScriptEnabled });
    const press = async () => {
      await page.keyboard.press('Tab');
      return page.locator(':focus').textContent();
    };
    for (let i = 0; (await press()) !== 'Skip the list'; i += 1) expect(i).toBeLessThan(10);
    await page.keyboard.press('Enter');
    await poll(() => focused(page)).toBe('after');
    expect(await press()).toBe('Next');
  });
});

test('A search page offers to search again when another user changes the list', async () => {
  await site.add('milk');
  const page = await site.open('/?q=milk');
  await site.add('oat milk');
  await page.getByRole('link', { name: 'Search again' }).click();
  await poll(() => titles(page)).toEqual(['oat milk', 'milk']);
});

test('A search page offers to search again beside Undo', async () => {
  await site.add('milk', 'tea');
  const page = await site.open('/?q=milk');
  await page.getByRole('link', { name: 'Finish: milk' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await site.add('oat milk', 'rice milk');
  const again = page.getByRole('link', { name: 'Search again' });
  await again.waitFor();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  expect(await again.count()).toBe(1);
  await again.click();
  await poll(() => titles(page)).toEqual(['rice milk', 'oat milk', '(milk)']);
});
