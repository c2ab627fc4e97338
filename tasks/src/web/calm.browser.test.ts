import type { Locator, Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  animate,
  appeared,
  edit,
  enter,
  field,
  focused,
  loseResponse,
  notice,
  poll,
  rest,
  showChanges,
  titles,
  useBrowser,
} from '../../testing/browser.ts';

const site = useBrowser();
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** The IDs of the visible rows from the top. */
const rows = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.tasks > li')].filter((row) => row.checkVisibility())
    .map((row) => row.id.replace('task-', '')).join(' ')`);

/** Waits until the page has heard of the newest version of the list. */
async function heard(page: Page) {
  const { version } = await site.store.list({ filter: 'all' });
  await poll(() => page.locator('#list').getAttribute('data-version')).toBe(version);
}

describe('While somebody uses the list', () => {
  let page: Page;
  beforeEach(async () => {
    await site.add('milk', 'bread', 'tea', 'jam');
    page = await site.openStill('/');
    await appeared(page);
    await page.locator('#task-4').focus();
    await page.keyboard.press('ArrowDown');
  });

  test('nothing that others do moves a row, until 4 s without a touch', async () => {
    await site.add('rice');
    await site.store.update('4', { finished: 1 }, new Date());
    await site.store.update('3', { title: 'green tea' }, new Date());
    await site.store.destroy('2', 'gone');
    await heard(page);
    expect(await rows(page)).toBe('4 3 2 1');
    expect(await titles(page)).toEqual(['green tea', 'milk', '(jam)']);
    await page.clock.runFor(3_900);
    await page.keyboard.press('Shift');
    await page.clock.runFor(3_900);
    expect(await rows(page)).toBe('4 3 2 1');
    await page.clock.runFor(200);
    expect(await rows(page)).toBe('5 3 1 4');
    expect(await page.locator('.changes').count()).toBe(0);
  });

  test('a row that others have deleted is dimmed, ignores taps, and leaves its focus to the list', async () => {
    expect(await focused(page)).toBe('task-3');
    const circle = await page.locator('#task-3 .toggle').boundingBox();
    await site.store.destroy('3', 'gone');
    await heard(page);
    expect(await page.evaluate("getComputedStyle(document.getElementById('task-3')).opacity")).toBe('0.45');
    await page.mouse.click((circle?.x ?? 0) + 22, (circle?.y ?? 0) + 22);
    expect(await page.locator('.busy').count()).toBe(0);
    expect(await focused(page)).toBe('list');
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('task-2');
  });

  test('the focus of a row that moves goes to the list, and arrow keys go on from there', async () => {
    await page.keyboard.press('Space');
    await poll(() => notice(page)).toContain('Finished: tea');
    await rest(page);
    expect(await rows(page)).toBe('4 2 1 3');
    expect(await focused(page)).toBe('list');
    await page.keyboard.press('ArrowUp');
    expect(await focused(page)).toBe('task-4');
  });

  test('a half-typed text or an edit form in use holds the list, an empty field does not', async () => {
    await field(page).focus();
    await page.keyboard.type('ric');
    await site.add('rice');
    await heard(page);
    await page.clock.runFor(60_000);
    expect(await rows(page)).toBe('4 3 2 1');
    for (const _ of 'ric') await page.keyboard.press('Backspace');
    await rest(page);
    expect(await rows(page)).toBe('5 4 3 2 1');
    await page.locator('#task-3').focus();
    await page.keyboard.press('Enter');
    await site.add('honey');
    await heard(page);
    await page.clock.runFor(60_000);
    expect(await rows(page)).toBe('5 4 3 2 1');
    await page.keyboard.press('Escape');
    await rest(page);
    expect(await rows(page)).toBe('6 5 4 3 2 1');
  });

  test('an open menu holds the list for half a minute', async () => {
    await page.evaluate("document.querySelector('#task-2 details').open = true");
    await site.add('rice');
    await heard(page);
    await page.clock.runFor(29_000);
    expect(await rows(page)).toBe('4 3 2 1');
    await page.clock.runFor(1_500);
    expect(await rows(page)).toBe('5 4 3 2 1');
  });

  test('hiding the page shows the list as it is', async () => {
    await site.add('rice');
    await heard(page);
    expect(await rows(page)).toBe('4 3 2 1');
    await page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
    expect(await rows(page)).toBe('5 4 3 2 1');
  });

  test('scrolling is no touch', async () => {
    await site.add('rice');
    await heard(page);
    await page.clock.runFor(3_900);
    await page.mouse.wheel(0, 30);
    await page.evaluate("document.dispatchEvent(new Event('scroll', { bubbles: true }))");
    expect(await rows(page)).toBe('4 3 2 1');
    await page.clock.runFor(200);
    expect(await rows(page)).toBe('5 4 3 2 1');
  });

  test('a change of the filter shows the list as it is', async () => {
    await site.add('rice');
    await site.store.destroy('2', 'gone');
    await heard(page);
    expect(await rows(page)).toBe('4 3 2 1');
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await poll(() => rows(page)).toBe('5 4 3 1');
  });

  test.each([
    ['no-preference', ['task-2', 'task-1', 'task-4', 'task-3']],
    ['reduce', []],
  ] as const)('all rows that move slide once, together, for 0.2 s (motion: %s)', async (motion, sliding) => {
    await page.emulateMedia({ reducedMotion: motion });
    await page.keyboard.press('Space');
    await poll(() => notice(page)).toContain('Finished: tea');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Space');
    await poll(() => notice(page)).toContain('Finished: jam');
    await site.add('rice');
    await heard(page);
    await animate(page, 0);
    await rest(page);
    expect(await rows(page)).toBe('5 2 1 4 3');
    const slides = await page.evaluate(`document.getAnimations()
      .filter(({ effect }) => effect.target.matches('.tasks > li') && effect.getKeyframes()[0].translate !== undefined)
      .map(({ effect }) => effect.target.id + ' ' + effect.getTiming().duration)`);
    expect(slides).toEqual(sliding.map((id) => `${id} 200`));
  });

  test("this user's own tasks come and go at once, between what others do", async () => {
    await site.add('rice');
    await enterTask(page, 'honey');
    expect(await rows(page)).toBe('6 4 3 2 1');
    // Rows that have moved ignore taps.
    await page.clock.runFor(500);
    await page.getByRole('button', { name: 'Delete: tea' }).click();
    await poll(() => notice(page)).toContain('Deleted: tea');
    expect(await rows(page)).toBe('6 4 2 1');
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => notice(page)).toContain('Restored: tea');
    expect(await rows(page)).toBe('6 4 3 2 1');
    await showChanges(page, 1);
    expect(await rows(page)).toBe('6 5 4 3 2 1');
  });

  test('a row that its user has deleted and somebody else restores is offered', async () => {
    await page.getByRole('button', { name: 'Delete: tea' }).click();
    await poll(() => notice(page)).toContain('Deleted: tea');
    await field(page).focus();
    await page.keyboard.type('ric');
    const [removal] = await site.store.removals();
    await site.store.restore(removal?.removal ?? '');
    await showChanges(page, 1);
    expect(await rows(page)).toBe('4 3 2 1');
  });
});

async function enterTask(page: Page, title: string) {
  await field(page).focus();
  await enter(page, title);
  await poll(() => notice(page)).toContain(`Added: ${title}`);
}

test('A task that its user finishes on the first of several pages is not dimmed, and can be reopened', async () => {
  await site.add(...Array.from({ length: 101 }, (_, i) => `task ${i + 1}`));
  const page = await site.open();
  await page.getByLabel('Finish: task 100').click();
  await poll(() => notice(page)).toContain('Finished: task 100');
  await page.getByLabel('Reopen: task 100').click();
  await poll(() => notice(page)).toContain('Reopened: task 100');
});

test('A task that its user finishes and edits on the first of several pages stays in its place', async () => {
  await site.add(...Array.from({ length: 101 }, (_, i) => `task ${i + 1}`));
  const page = await site.openStill('/');
  const held = Promise.withResolvers<void>();
  await page.route('**/task/99/finish*', (route) => held.promise.then(() => route.continue()));
  await page.getByLabel('Finish: task 99').click();
  // The notice moves the rows, which ignore real clicks while the clock stands still.
  await page.locator('#task-99 .edit').dispatchEvent('click');
  await page.locator('#title-99').fill('task 99!');
  await page.keyboard.press('Enter');
  held.resolve();
  await poll(() => notice(page)).toContain('Saved: task 99!');
  await poll(() => page.locator('.busy').count()).toBe(0);
  expect(await page.locator('#task-99').getAttribute('class')).toBe('finished');
  expect(await page.locator('#task-99').getAttribute('inert')).toBeNull();
});

test('Rows that only cross the edge of the page are not counted as changes', async () => {
  await site.add(...Array.from({ length: 101 }, (_, i) => `task ${i + 1}`));
  const page = await site.openStill('/');
  await page.keyboard.press('Shift');
  await site.add('milk');
  await poll(() => notice(page)).toContain('1 change. Show');
  await site.store.destroy('102', 'gone');
  await heard(page);
  await poll(() => page.locator('.changes').count()).toBe(0);
  await site.store.destroy('50', 'gone too');
  await poll(() => notice(page)).toContain('1 change. Show');
});

test("A row that this user's edit takes out of a search leaves at once, and is not counted as a change", async () => {
  await site.add('mlch', 'mlch 2');
  const page = await site.openStill('/?q=mlch');
  await edit(page, 1, '');
  await page.locator('.editing [name=title]').fill('milk');
  await page.keyboard.press('Enter');
  await poll(() => notice(page)).toMatch(/^\s*Saved: milk\s+Undo\s*$/);
  expect(await titles(page)).toEqual(['mlch 2']);
  expect(await focused(page)).toBe('list');
});

test('A row that this user has added ignores taps once somebody else has deleted it', async () => {
  const page = await site.open();
  await field(page).focus();
  await enter(page, 'milk', 'bread');
  await poll(() => titles(page)).toEqual(['bread', 'milk']);
  await field(page).fill('half-typed');
  await site.store.destroy('2', 'gone');
  await heard(page);
  await poll(() => page.locator('#task-2[inert]').count()).toBe(1);
});

test('An error about a lost response goes once the list shows that the change was made', async () => {
  await site.add('milk', 'bread', 'tea');
  const page = await site.open();
  await field(page).fill('half-typed');
  await loseResponse(page, '**/tasks/2');
  await page.getByRole('button', { name: 'Delete: bread' }).click();
  await heard(page);
  await poll(() => notice(page)).toMatch(/^\s*Deleted: bread Recently deleted\s*$/);
  await poll(() => page.locator('#task-2').getAttribute('inert')).toBe('');
});

test('An error about a missing connection goes when the connection is back, in the notice and in a form', async () => {
  await site.add('milk', 'bread');
  const page = await site.open();
  await edit(page, 1, '');
  await page.context().setOffline(true);
  await poll(() => page.locator('body.offline').count()).toBe(1);
  await page.getByRole('button', { name: 'Delete: bread' }).click();
  await poll(() => notice(page)).toContain('bread\u2069: This needs a connection.');
  await page.locator('.editing [name=title]').fill('oat milk');
  await page.keyboard.press('Enter');
  await page.locator('.editing .problem').waitFor();
  await page.context().setOffline(false);
  await page.locator('body:not(.offline)').waitFor();
  // Not before the user can have read it.
  expect(await notice(page)).toContain('This needs a connection');
  expect(await page.locator('.problem').count()).toBe(1);
  await poll(() => notice(page)).not.toContain('This needs a connection');
  await poll(() => page.locator('.problem').count()).toBe(0);
  expect(await page.locator('.editing [name=title]').inputValue()).toBe('oat milk');
});

test('An error, Undo and Show together take less than a quarter of a phone', async () => {
  await site.add('milk', 'bread', 'tea');
  const page = await site.openStill('/', phone);
  await page.getByLabel('Finish: tea').tap();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await site.add('rice');
  await poll(() => notice(page)).toContain('1 change. Show');
  await page.route(/\/tasks\/[12]$/, (route) => route.abort());
  /** Taps once the row takes taps again, which rows that have moved do not. */
  const tap = async (control: Locator) => {
    await page.clock.runFor(500);
    await control.tap();
  };
  for (const title of ['bread', 'milk']) {
    await tap(page.getByLabel(`More: ${title}`));
    await tap(page.getByRole('button', { name: `Delete: ${title}` }));
    await poll(() => notice(page)).toMatch(new RegExp(`${title}.*Close`));
  }
  await poll(() => notice(page)).toMatch(/milk.*Close.*bread.*Close.*Finished: tea\s+Undo\s+1 change. Show/s);
  expect((await page.locator('#notice').boundingBox())?.height).toBeLessThan(844 / 4);
});
