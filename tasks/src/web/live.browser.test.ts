import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, focused, titles, useBrowser } from '../../testing/browser.ts';
import { startReplica } from '../../testing/replica.ts';

const site = useBrowser();

/** The events arrive when something changes; sooner than the next of the versions that come every 5 s anyway. */
const { poll } = { poll: <T>(look: () => T) => expect.poll(look, { timeout: 4_000 }) };

describe('Two browsers side by side', () => {
  test('a task that one adds, finishes, edits and deletes shows in the other', async () => {
    const [ada, bob] = await Promise.all([site.open(), site.open()]);
    await ada.keyboard.type('milk');
    await ada.keyboard.press('Enter');
    await poll(() => titles(bob)).toEqual(['milk']);
    await ada.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(() => titles(bob)).toEqual(['(milk)']);
    await ada.getByRole('link', { name: 'Edit: milk' }).click();
    await ada.getByLabel('Title').fill('oat milk');
    await ada.keyboard.press('Enter');
    await poll(() => titles(bob)).toEqual(['(oat milk)']);
    await ada.getByRole('button', { name: 'Delete: oat milk' }).click();
    await poll(() => titles(bob)).toEqual([]);
    await poll(() => bob.locator('#notice').textContent()).toBe('The list changed: No tasks');
  });

  test('what one types, the link that has the focus, and Undo stay where they are when others change the list', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    const bob = await site.open();
    await bob.getByRole('button', { name: 'Delete: rice' }).click();
    await poll(() => titles(bob)).toEqual(['tea', 'bread', 'milk']);
    await bob.getByRole('link', { name: 'Finish: bread' }).focus();
    await bob.evaluate('window.link = document.activeElement');
    await bob.evaluate("document.querySelector('#task-1 details').open = true");
    await site.store.update('3', { finished: 1 }, new Date());
    await poll(() => titles(bob)).toEqual(['bread', 'milk', '(tea)']);
    expect(await bob.evaluate('window.link === document.activeElement')).toBe(true);
    expect(await bob.locator('details[open]').count()).toBe(1);
    await field(bob).focus();
    for (const key of [...'brad', 'ArrowLeft', 'ArrowLeft']) await bob.keyboard.press(key);
    await site.add('honey');
    await poll(() => titles(bob)).toEqual(['honey', 'bread', 'milk', '(tea)']);
    await bob.keyboard.type('e');
    await poll(() => field(bob).inputValue()).toBe('bread');
    expect(await focused(bob)).toBe('title');
    await bob.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(bob)).toEqual(['honey', 'rice', 'bread', 'milk', '(tea)']);
    expect(await field(bob).inputValue()).toBe('bread');
  });

  test('an edit under way is left alone, whatever the other does with the task', async () => {
    await site.add('milk', 'bread', 'tea');
    const bob = await site.open();
    await bob.getByRole('link', { name: 'Edit: bread' }).click();
    await poll(() => focused(bob)).toBe('title-2');
    await bob.evaluate('document.activeElement.onblur = () => { window.blurred = true; }');
    await bob.keyboard.type(' and hny');
    await bob.keyboard.press('ArrowLeft');
    await bob.keyboard.press('ArrowLeft');
    await site.store.update('2', { finished: 1 }, new Date());
    await site.add('honey');
    await poll(() => titles(bob)).toEqual(['honey', 'tea', 'milk']);
    for (const id of ['1', '2', '3', '4']) await site.store.destroy(id, id);
    await poll(() => titles(bob)).toEqual([]);
    await bob.keyboard.type('o');
    await poll(() => bob.evaluate('window.blurred')).toBeUndefined();
    await poll(() => bob.locator('#title-2').inputValue()).toBe('bread and hony');
  });

  test('a task that somebody deletes while I edit it says so when I save, and can be added again', async () => {
    await site.add('milk', 'bread', 'tea');
    const bob = await site.open();
    await bob.getByRole('link', { name: 'Edit: bread' }).click();
    await poll(() => focused(bob)).toBe('title-2');
    await bob.keyboard.type(' and butter');
    await site.store.destroy('2', 'gone');
    await site.add('rice');
    await poll(() => titles(bob)).toEqual(['rice', 'tea', 'milk']);
    const ids = bob.locator('.tasks > li').evaluateAll((rows) => rows.map(({ id }) => id));
    expect(await ids).toEqual(['task-4', 'task-3', 'task-2', 'task-1']);
    await bob.keyboard.press('Enter');
    await poll(() => bob.getByRole('alert').textContent()).toContain('Somebody deleted this task');
    expect(await bob.locator('#title-2').inputValue()).toBe('bread and butter');
    await bob.locator('#title-2').press('End');
    await bob.keyboard.type(', two');
    await bob.locator('.editing').getByRole('button', { name: 'Add' }).click();
    await poll(() => titles(bob)).toEqual(['bread and butter, two', 'rice', 'tea', 'milk']);
    await poll(() => bob.locator('.editing').count()).toBe(0);
  });
});

test('A page that lost touch catches up with a service that was restarted', async () => {
  const before = await startReplica(site.redisUrl);
  const page = await site.open(before.url);
  await before.stop();
  await site.add('milk');
  const after = await startReplica(site.redisUrl, {}, Number(new URL(before.url).port));
  await expect.poll(() => titles(page), { timeout: 15_000 }).toEqual(['milk']);
  await after.stop();
});

const events = '**/tasks/events';

/** Opens the list with a clock that a test can move on; tells how often it has asked for events. */
async function openList(prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const page = await site.openNew('/tasks/new');
  let connections = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/tasks/events')) connections += 1;
  });
  await page.clock.install();
  await prepare(page);
  await page.goto('/');
  await poll(() => connections).toBe(1);
  return { page, connections: () => connections };
}

/** Adds a task from elsewhere, which the page hears of. */
async function hear(page: Page, title: string) {
  const before = await titles(page);
  await site.add(title);
  await poll(() => titles(page)).toEqual([title, ...before]);
}

describe('The focus stays where it is when somebody else changes the list:', () => {
  test.each([
    [
      'on the same control of the same task',
      'Finish: bread',
      () => site.store.update('2', { finished: 1 }, new Date()),
      'Reopen: bread',
    ],
    [
      'on the row whose control is gone',
      'Where to? https://bit.ly/3',
      () => site.store.update('2', { title: 'tea' }, new Date()),
      'task-2',
    ],
    [
      'on the list, where no key acts, if the row is gone',
      'Delete: bread',
      () => site.store.destroy('2', 'gone'),
      'list',
    ],
  ])('%s', async (_, label, change, there) => {
    await site.add('milk');
    await site.add('bread https://bit.ly/3', 'rice');
    const bob = await site.open();
    const control = bob.getByLabel(label);
    await control.focus();
    await change();
    const at = () => bob.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
    await poll(at).toMatch(new RegExp(`^${there}`));
    if (there !== 'list') return;
    for (const key of ['Space', 'Enter', 'Delete']) await bob.keyboard.press(key);
    await bob.keyboard.press('ArrowDown');
    await poll(at).toBe('task-1');
    expect(await titles(bob)).toEqual(['rice', 'milk']);
  });
});

describe('The connection by which a page hears of changes', () => {
  test('is said to be lost after 20 s without a word, until there is one', async () => {
    const { page } = await openList();
    await hear(page, 'milk');
    const notice = () => page.locator('#notice').textContent();
    await page.route(events, (route) => route.abort());
    await page.clock.fastForward(20_000);
    await poll(notice).toBe('Not connected. This list may be out of date. Close');
    await page.unroute(events);
    await page.clock.fastForward(20_000);
    await site.add('bread');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(notice).not.toContain('Not connected');
  });

  test('is opened anew where 20 s bring no first word', async () => {
    const { page, connections } = await openList((opened) => opened.route(events, () => {}, { times: 1 }));
    await page.clock.fastForward(10_000);
    expect(connections()).toBe(1);
    await page.clock.fastForward(10_000);
    await poll(connections).toBe(2);
    await hear(page, 'milk');
  });

  test('is opened anew 20 s after the last word, and stays while there are words', async () => {
    const { page, connections } = await openList();
    await hear(page, 'milk');
    await page.clock.fastForward(12_000);
    await hear(page, 'bread');
    await page.clock.fastForward(12_000);
    await hear(page, 'tea');
    expect(connections()).toBe(1);
    await poll(async () => {
      // The version, which comes every 5 s, may come in between.
      await page.clock.fastForward(20_000);
      return connections();
    }).toBeGreaterThan(1);
    await hear(page, 'honey');
  });

  test('is opened anew as soon as the network is back', async () => {
    const { page, connections } = await openList();
    await hear(page, 'milk');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await poll(connections).toBe(2);
    await hear(page, 'bread');
  });

  const setHidden = (hidden: boolean) => `
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`;
  const transition = (name: string) =>
    `dispatchEvent(new PageTransitionEvent('${name}', { persisted: true }))`;
  test.each([
    ['nobody sees the page, and opened anew when somebody does', setHidden(true), setHidden(false)],
    [
      'the page is left, and opened anew when Back brings it back',
      transition('pagehide'),
      transition('pageshow'),
    ],
  ])('is let go while %s', async (_when, leave, comeBack) => {
    const { page, connections } = await openList();
    await hear(page, 'milk');
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/tasks/events'));
    await page.evaluate(leave);
    await closed;
    await site.add('bread');
    expect(await titles(page)).toEqual(['milk']);
    await page.evaluate(comeBack);
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    expect(connections()).toBe(2);
  });
});
