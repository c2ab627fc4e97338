import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, focused, notice, poll, showChanges, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

async function press(page: Page, ...keys: string[]) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Opens a list of `titles` and focuses the first row. */
async function rows(...titles: string[]) {
  await site.add(...titles.toReversed());
  const page = await site.open();
  await page.locator('.tasks > li').first().focus();
  return page;
}

describe('Keys', () => {
  test('arrow keys move the visible focus between rows, even after a row and its neighbor have gone', async () => {
    await site.add('jam', 'tea', 'bread', 'milk');
    const page = await site.openStill('/');
    await page.locator('.tasks > li').first().focus();
    for (const [key, row] of Object.entries({ ArrowUp: 'task-4', ArrowDown: 'task-3' })) {
      await press(page, key);
      await poll(() => focused(page)).toBe(row);
    }
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.getByRole('link', { name: 'Edit: tea' }).focus();
    await press(page, 'ArrowDown');
    await poll(() => focused(page)).toBe('task-1');
    for (const [key, [id, neighbor, next]] of Object.entries({ ArrowDown: [4, 3, 2], ArrowUp: [1, 2, 3] })) {
      await page.locator(`#task-${id}`).focus();
      await press(page, 'Delete');
      await page.locator(`#task-${id}`).waitFor({ state: 'detached' });
      await site.store.update(`${neighbor}`, { finished: 1 }, new Date());
      await showChanges(page, 1);
      await press(page, key);
      await poll(() => focused(page)).toBe(`task-${next}`);
    }
  });

  test('Space scrolls if no row has the focus', async () => {
    await site.add(...Array.from({ length: 60 }, (_, i) => `task ${i}`));
    // The page would restore the place to which this test scrolls.
    const page = await site.openNew('/', { viewport: { width: 1280, height: 600 } });
    await page.locator('#list').focus();
    await press(page, 'Space');
    await poll(() => page.evaluate('scrollY')).toBeGreaterThan(300);
    expect(await page.locator('.finished').count()).toBe(0);
  });

  test('Space finishes and reopens the focused task without scrolling', async () => {
    const page = await rows(...Array.from({ length: 60 }, (_, i) => `task ${60 - i}`));
    await page.setViewportSize({ width: 1280, height: 600 });
    await press(page, 'Space');
    await poll(() => page.locator('#task-60').getAttribute('class')).toBe('finished');
    expect(await focused(page)).toBe('task-60');
    await press(page, 'ArrowDown');
    await poll(() => focused(page)).toBe('task-59');
    await poll(() => page.locator('.tasks > li').first().getAttribute('id')).toBe('task-59');
    await press(page, 'ArrowDown', 'ArrowUp');
    await poll(() => focused(page)).toBe('task-59');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.locator('#task-60').focus();
    await press(page, 'Space');
    await poll(() => page.locator('#task-60').getAttribute('class')).toBeNull();
    const tick = "getComputedStyle(document.querySelector('#task-60 .toggle'), '::after').content";
    expect(await page.evaluate(tick)).toBe('none');
    await press(page, 'ArrowUp');
    expect(await focused(page)).toBe('task-1');
  });

  test('Enter edits the row in place, Escape cancels, and n focuses the field', async () => {
    const page = await rows('milk', 'bread');
    await press(page, 'ArrowDown', 'Enter');
    await poll(() => focused(page)).toBe('title-1');
    await page.keyboard.type(' and butter');
    await press(page, 'Escape');
    expect(await focused(page)).toBe('task-1');
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
    await press(page, 'ArrowUp', 'Enter');
    await poll(() => focused(page)).toBe('title-2');
    await page.keyboard.type(', two');
    await press(page, 'Enter');
    await poll(() => titles(page)).toEqual(['milk, two', 'bread']);
    await site.add('tea');
    await poll(() => titles(page)).toEqual(['tea', 'milk, two', 'bread']);
    await press(page, 'ArrowDown');
    expect(await focused(page)).toBe('task-1');
    await press(page, 'n');
    await poll(() => focused(page)).toBe('title');
    expect(await field(page).inputValue()).toBe('');
    await press(page, 'Escape', 'ArrowDown', 'Enter');
    await page.locator('#task-2').focus();
    await press(page, 'ArrowDown', 'Delete', 'ArrowUp');
    await poll(() => focused(page)).toBe('task-2');
  });

  test('keep their usual meaning in a field or with a modifier key', async () => {
    const page = await rows('milk');
    await press(page, 'Control+n', 'Alt+Space', 'Control+Enter', 'Shift+ControlOrMeta+Z');
    expect(await focused(page)).toBe('task-1');
    expect(await titles(page)).toEqual(['milk']);
    await page.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => notice(page)).toContain('Deleted: milk');
    await press(page, 'Control+n', 'Shift+ControlOrMeta+Z');
    expect(await page.locator('.busy').count()).toBe(0);
    expect(await notice(page)).toContain('Deleted: milk');
    await field(page).focus();
    await page.keyboard.type('no? one');
    expect(await field(page).inputValue()).toBe('no? one');
    await press(page, 'ControlOrMeta+Z', 'ArrowDown');
    expect(await focused(page)).toBe('title');
    expect(await titles(page)).toEqual([]);
  });
});

test('Delete and Backspace delete only the focused task', async () => {
  const page = await rows('milk', 'bread', ...Array.from({ length: 30 }, (_, i) => `task ${i}`));
  await press(page, 'Delete');
  await poll(async () => (await titles(page))[0]).toBe('bread');
  const before = await page.evaluate('scrollY');
  await press(page, 'Delete', 'Backspace', 'Space', 'Enter');
  expect(await focused(page)).toBe('list');
  await poll(() => page.evaluate('scrollY')).toBe(before);
  await press(page, 'ArrowDown', 'Backspace');
  await poll(async () => (await titles(page))[0]).toBe('task 0');
  await poll(() => notice(page)).toContain('Deleted: bread');
  expect((await site.store.list({ filter: 'all' })).open).toBe(30);
});

test('Letter keys work on non-Latin layouts, and ? shows the shortcuts', async () => {
  const page = await rows('milk', 'bread');
  await press(page, 'Delete');
  await poll(() => notice(page)).toContain('Deleted: milk');
  const type = (key: string, code: string, ctrlKey = false) =>
    page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
      { key: '${key}', code: '${code}', ctrlKey: ${ctrlKey}, bubbles: true }))`);
  // `KeyZ` types y on a German keyboard and я on a Russian keyboard.
  await type('y', 'KeyZ', true);
  await type('я', 'KeyZ', true);
  await poll(() => titles(page)).toEqual(['milk', 'bread']);
  await type('т', 'KeyN');
  await poll(() => focused(page)).toBe('title');
  await press(page, '?', 'Escape', '?');
  await page.waitForURL('**/keys.html');
  await page.goBack();
  await poll(() => page.evaluate("document.getElementById('title').value")).toBe('?');
});

const remove = async (page: Page, title: string) => {
  await page.getByRole('button', { name: `Delete: ${title}` }).click();
  await poll(() => notice(page)).toContain(`Deleted: ${title}`);
};

test('Undo runs once per double click, and can be retried after a failure', async () => {
  const page = await rows('milk', 'bread');
  const undo = page.getByRole('button', { name: 'Undo' });
  const restored = async () => {
    await poll(() => notice(page)).toMatch(/Restored: milk$/);
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
  };
  const failed = (why: string) => new RegExp(`^${why} Close\\s+Deleted: milk\\s+Undo\\s*$`);
  await remove(page, 'milk');
  await undo.dblclick();
  await restored();
  await remove(page, 'milk');
  const held = Promise.withResolvers<void>();
  await page.route('**/tasks/1', (route) => held.promise.then(() => route.abort()));
  await page.getByRole('button', { name: 'Delete: bread' }).click();
  // This belongs to the failed deletion.
  await press(page, 'ControlOrMeta+Z');
  held.resolve();
  const error = '\u2068bread\u2069: No answer\\. It may be deleted\\. Recently deleted';
  await poll(() => notice(page)).toMatch(failed(error));
  await poll(() => page.locator('body.busy').count()).toBe(0);
  expect(await titles(page)).toEqual(['bread']);
  await press(page, 'ControlOrMeta+Z');
  await restored();
  await page.getByRole('button', { name: 'Close' }).click();
  await poll(() => notice(page)).toBe('Restored: milk');
  await remove(page, 'milk');
  await page.route('**/tasks/restore', (route) => route.abort(), { times: 1 });
  await undo.click();
  await poll(() => notice(page)).toMatch(failed('No answer\\. It may not be saved\\.'));
  await undo.click();
  await restored();
});

test('Ctrl+Z undoes the last deletion once, including a deletion in progress', async () => {
  const page = await rows('milk', 'bread', 'tea', 'rice');
  await remove(page, 'milk');
  await remove(page, 'bread');
  expect(await focused(page)).toBe('list');
  await press(page, 'ControlOrMeta+Z', 'ControlOrMeta+Z');
  await poll(() => notice(page)).toBe('Restored: bread');
  await poll(() => titles(page)).toEqual(['bread', 'tea', 'rice']);
  const held = Promise.withResolvers<void>();
  await page.route('**/tasks/2', (route) => held.promise.then(() => route.continue()));
  await page.getByRole('button', { name: 'Delete: tea' }).click();
  await poll(() => titles(page)).toEqual(['bread', 'rice']);
  await press(page, 'ControlOrMeta+Z');
  held.resolve();
  await poll(() => titles(page)).toEqual(['bread', 'tea', 'rice']);
  await poll(() => notice(page)).toBe('Restored: tea');
});

test('A double click on a circle finishes the task once, and leaves the page open', async () => {
  await site.add('milk');
  const page = await site.open();
  const loaded: string[] = [];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loaded.push(request.url());
  });
  await page.getByLabel('Finish: milk').dblclick();
  await poll(() => notice(page)).toContain('Finished: milk');
  expect(loaded).toEqual([]);
  expect(await titles(page)).toEqual(['(milk)']);
});

test('A double click edits a row in place, without moving rows or text', async () => {
  await site.add('tea', 'bread', 'milk');
  const page = await site.open();
  const title = page.locator('#task-2 .title');
  const below = () => page.locator('#task-1').boundingBox();
  const [text, before] = [await title.boundingBox(), await below()];
  await title.dblclick();
  await poll(() => focused(page)).toBe('title-2');
  expect(await below()).toEqual(before);
  const start = await page.evaluate<number>(`(({ paddingLeft, borderLeftWidth }) =>
    document.activeElement.getBoundingClientRect().left + parseFloat(paddingLeft) + parseFloat(borderLeftWidth)
  )(getComputedStyle(document.activeElement))`);
  expect(Math.abs(start - (text?.x ?? 0))).toBeLessThan(1);
  await press(page, 'Escape');
  expect(await below()).toEqual(before);
  await page.getByRole('link', { name: 'Edit: bread' }).dblclick();
  expect(await focused(page)).toBe('title-2');
  await page.getByRole('link', { name: 'Cancel' }).dblclick();
  expect(await page.locator('.editing').count()).toBe(0);
});
