import type { BrowserContext, Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import {
  appeared,
  edit,
  enter,
  field,
  focused,
  notice,
  poll,
  rest,
  showChanges,
  titles,
  useBrowser,
} from '../../testing/browser.ts';
import { startReplica } from '../../testing/replica.ts';

const site = useBrowser();

describe('Two pages', () => {
  test("show each other's changes", async () => {
    const ada = await site.open();
    const bob = await ada.context().newPage();
    await bob.goto('/');
    await enter(ada, 'milk');
    await poll(() => titles(bob)).toEqual(['milk']);
    await ada.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(() => titles(bob)).toEqual(['(milk)']);
    await edit(ada, 1, '');
    await enter(ada, ' and tea');
    await poll(() => titles(bob)).toEqual(['(milk and tea)']);
    await ada.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => titles(bob)).toEqual([]);
    await poll(() => notice(bob)).toBe('The list changed: No tasks');
  });

  test('keep typed text, an open menu and Undo when another user changes the list', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    const bob = await site.open();
    await bob.getByRole('button', { name: 'Delete: rice' }).click();
    await poll(() => titles(bob)).toEqual(['tea', 'bread', 'milk']);
    await bob.evaluate("document.querySelector('#task-1 details').open = true");
    await site.store.update('3', { finished: 1 }, new Date());
    await poll(() => titles(bob)).toEqual(['bread', 'milk', '(tea)']);
    expect(await bob.locator('details[open]').count()).toBe(1);
    await field(bob).focus();
    for (const key of [...'brad', 'ArrowLeft', 'ArrowLeft']) await bob.keyboard.press(key);
    await site.add('honey');
    await poll(() => notice(bob)).toMatch(/Deleted: rice\s+Undo\s+2 changes. Show/);
    await bob.keyboard.type('e');
    await poll(() => field(bob).inputValue()).toBe('bread');
    expect(await focused(bob)).toBe('title');
    await showChanges(bob, 2);
    expect(await titles(bob)).toEqual(['honey', 'bread', 'milk', '(tea)']);
    expect(await bob.locator('details[open]').count()).toBe(1);
    await bob.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(bob)).toEqual(['honey', 'rice', 'bread', 'milk', '(tea)']);
    expect(await field(bob).inputValue()).toBe('bread');
  });

  test('keep an edit when another user changes the list, and offer to add a deleted task again', async () => {
    await site.add('milk', 'bread', 'tea');
    const bob = await site.open();
    await edit(bob, 2, ' and hny');
    await bob.evaluate('document.activeElement.onblur = () => { window.blurred = true; }');
    await bob.keyboard.press('ArrowLeft');
    await bob.keyboard.press('ArrowLeft');
    await site.store.update('2', { finished: 1 }, new Date());
    await site.add('rice');
    await poll(() => notice(bob)).toContain('2 changes. Show');
    await site.store.destroy('2', 'gone');
    await site.add('jam');
    await bob.getByText('4 open, 0 finished').waitFor();
    expect(await titles(bob)).toEqual(['tea', 'milk']);
    await bob.keyboard.type('o');
    expect(await bob.evaluate('window.blurred')).toBeUndefined();
    await bob.keyboard.press('Enter');
    await poll(() => bob.getByRole('alert').textContent()).toContain('Somebody may have deleted it');
    expect(await bob.locator('#title-2').inputValue()).toBe('bread and hony');
    await bob.locator('.editing').getByRole('button', { name: 'Add' }).click();
    await poll(() => titles(bob)).toEqual(['bread and hony', 'tea', 'milk']);
    expect(await bob.locator('.editing').count()).toBe(0);
    await showChanges(bob, 3);
    expect(await titles(bob)).toEqual(['bread and hony', 'jam', 'rice', 'tea', 'milk']);
  });
});

test('A page shows missed changes after the service has restarted', async () => {
  const before = await startReplica(site.redisUrl);
  const page = await site.open(before.url);
  await before.stop();
  await site.add('milk');
  const after = await startReplica(site.redisUrl, {}, Number(new URL(before.url).port));
  await poll(() => titles(page)).toEqual(['milk']);
  await after.stop();
});

test('A page with a slow connection skips outdated versions', async () => {
  const page = await site.open();
  await page.evaluate(
    "heard = new Set(); new EventSource('/tasks/events').onmessage = (e) => heard.add(e.data)",
  );
  const slow = Promise.withResolvers<void>();
  const refresh = vi.fn((route: Route) => slow.promise.then(() => route.continue()));
  await page.route('**/tasks/partial?*', refresh);
  await poll(() => page.evaluate('heard.size')).toBe(1);
  for (const heard of [2, 3, 4]) {
    await site.add('milk');
    await poll(() => page.evaluate('heard.size')).toBe(heard);
  }
  slow.resolve();
  // The page handles this click after the events.
  await page.locator('.toggle').first().click();
  await poll(() => notice(page)).toContain('Finished');
  expect(refresh).toHaveBeenCalledOnce();
});

const events = '**/tasks/events';

/** A page with a fake clock. */
let page: Page;
beforeAll(async () => {
  page = await site.pageForAll();
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
});

/** Reopens the list on `page`. Returns a function that counts the event streams of `page`. */
async function openList() {
  await page.goto('about:blank');
  page.removeAllListeners('request');
  await page.unrouteAll();
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/tasks/events')) asked += 1;
  });
  await page.goto('/');
  await poll(() => asked).toBe(1);
  return () => asked;
}

/** Adds a task outside the page, and waits until the page shows it. */
async function hear(title: string) {
  const before = await titles(page);
  await site.add(title);
  await poll(() => titles(page)).toEqual([title, ...before]);
}

test('The focus stays on the control, the row or the list when another user changes the list', async () => {
  await site.add('milk', 'bread https://bit.ly/3', 'rice');
  const bob = await site.open();
  const at = () => bob.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
  await bob.getByLabel('Finish: bread').focus();
  await bob.keyboard.press('Shift');
  await site.store.update('2', { finished: 1 }, new Date());
  await poll(at).toMatch(/^Reopen: bread/);
  await bob.getByLabel('Where to? https://bit.ly/3').focus();
  await site.store.update('2', { title: 'tea', finished: 0 }, new Date());
  await poll(at).toBe('task-2');
  await bob.getByLabel('Delete: tea').focus();
  await site.store.destroy('2', 'gone');
  await poll(at).toBe('list');
  // Keys do not act on a task while the list has the focus.
  for (const key of ['Space', 'Enter', 'Delete']) await bob.keyboard.press(key);
  await bob.keyboard.press('ArrowDown');
  await poll(at).toBe('task-1');
  expect(await titles(bob)).toEqual(['rice', 'milk']);
  await poll(() => bob.locator('.tasks > li').count()).toBe(2);
});

describe('The event stream', () => {
  test('is reported as lost after 20 s without an event, until the next event', async () => {
    await openList();
    await hear('milk');
    await page.route(events, (route) => route.abort());
    await page.clock.fastForward(20_000);
    const connection = () => page.locator('#connection').textContent();
    await poll(connection).toMatch(/^As of .*, no connection\.$/);
    await page.unroute(events);
    await page.clock.fastForward(20_000);
    await site.add('bread');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(connection).toBe('');
  });

  test('reconnects 20 s after the last event', async () => {
    const connections = await openList();
    await hear('milk');
    await page.clock.fastForward(12_000);
    await hear('bread');
    await page.clock.fastForward(12_000);
    await hear('tea');
    expect(connections()).toBe(1);
    await poll(async () => {
      // The server sends the version again every 5 s, which may delay the reconnection.
      await page.clock.fastForward(20_000);
      return connections();
    }).toBeGreaterThan(1);
    await hear('honey');
  });

  const setHidden = (hidden: boolean) => `
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`;
  const transition = (name: string) =>
    `dispatchEvent(new PageTransitionEvent('${name}', { persisted: true }))`;
  test('closes when the user hides or leaves the page, and reconnects when the page or the network is back', async () => {
    const connections = await openList();
    await hear('milk');
    const absences = {
      [setHidden(true)]: setHidden(false),
      [transition('pagehide')]: transition('pageshow'),
    };
    for (const [leave, comeBack] of Object.entries(absences)) {
      const before = [await titles(page), connections()] as const;
      const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/tasks/events'));
      await page.evaluate(leave);
      await closed;
      await site.add('tea');
      expect(await titles(page)).toEqual(before[0]);
      await page.evaluate(comeBack);
      await poll(() => titles(page)).toEqual(['tea', ...before[0]]);
      expect(connections()).toBe(before[1] + 1);
    }
    await page.evaluate("dispatchEvent(new Event('online'))");
    await poll(connections).toBe(4);
    await hear('honey');
  });
});

describe('Several windows of a browser', () => {
  /** Opens the list in another window of the same browser. */
  async function openBeside(first: Page) {
    const page = await first.context().newPage();
    await page.goto('/');
    return page;
  }

  const countStreams = (of: Page | BrowserContext) => {
    let count = 0;
    of.on('request', (request) => {
      if (request.url().endsWith('/tasks/events')) count += 1;
    });
    return () => count;
  };

  test('share one event stream, and another window takes it when its window closes', async () => {
    const first = await site.openNew('about:blank');
    const streams = countStreams(first.context());
    await first.goto('/');
    await poll(streams).toBe(1);
    const others: Page[] = [];
    while (others.length < 6) others.push(await openBeside(first));
    await site.add('milk');
    for (const page of [first, ...others]) await poll(() => titles(page)).toEqual(['milk']);
    expect(streams()).toBe(1);
    await first.close();
    await site.add('bread');
    for (const page of others) await poll(() => titles(page)).toEqual(['bread', 'milk']);
    expect(streams()).toBe(2);
  });

  test('do not depend on a window that hangs', async () => {
    const hanging = await site.openNew('about:blank');
    await hanging.addInitScript('BroadcastChannel.prototype.postMessage = () => {}');
    await hanging.goto('/');
    await site.add('milk');
    await poll(() => titles(hanging)).toEqual(['milk']);
    const page = await hanging.context().newPage();
    await page.clock.install({ time: 0 });
    const streams = countStreams(page);
    await page.goto('/');
    await page.clock.fastForward(20_000);
    await poll(streams).toBe(1);
    await site.add('bread');
    for (const each of [hanging, page]) await poll(() => titles(each)).toEqual(['bread', 'milk']);
  });

  test('connect again after a logout in one of them', async () => {
    const first = await site.openNew('about:blank');
    const streams = countStreams(first);
    await first.goto('/');
    await poll(streams).toBe(1);
    const second = await openBeside(first);
    await second.evaluate("dispatchEvent(new Event('loggedout'))");
    await poll(streams).toBe(2);
  });
});

const phone = { viewport: { width: 390, height: 500 }, hasTouch: true, isMobile: true };

describe('Rows', () => {
  /** Viewport position of an element in pixels. */
  const top = async (selector: string, on: Page) =>
    Math.round((await on.locator(selector).boundingBox())?.y ?? 0);
  const tasks = Array.from({ length: 120 }, (_, i) => `task ${i + 1}`);

  test('do not move when another user changes rows above the scroll position', async () => {
    await site.add(...tasks);
    const bob = await site.open('/', phone);
    await bob.evaluate("document.getElementById('task-60').scrollIntoView()");
    const before = await top('#task-60', bob);
    await site.add('milk');
    await bob.locator('#task-121').waitFor();
    expect(await top('#task-60', bob)).toBe(before);
    await site.store.update('119', { finished: 1 }, new Date());
    await bob.locator('#task-119').waitFor({ state: 'detached' });
    await poll(() => top('#task-60', bob)).toBe(before);
  });

  test('ignore a tap soon after a move, and no other row receives it', async () => {
    await site.add('milk', 'bread', 'jam');
    const bob = await site.openStill('/', { reducedMotion: 'reduce' });
    await bob.getByLabel('Finish: jam').click();
    await poll(() => notice(bob)).toContain('Finished: jam');
    const circle = async (row: number) =>
      (await bob.locator(`li:nth-child(${row}) .toggle`).boundingBox()) ?? { x: 0, y: 0 };
    const { x, y } = await circle(1);
    await rest(bob);
    await bob.locator('#task-3:last-child').waitFor();
    await bob.clock.runFor(390);
    await bob.mouse.click(x + 9, y + 9);
    expect(await titles(bob)).toEqual(['bread', 'milk', '(jam)']);
    expect(await bob.locator('.busy, [data-pending]').count()).toBe(0);
    await bob.clock.runFor(100);
    await bob.mouse.click(x + 9, y + 9);
    await poll(() => titles(bob)).toEqual(['milk', '(bread)', '(jam)']);
  });

  test('wait 0.4 s for a finger on its way, even if the rows appear slowly', async () => {
    await site.add('milk', 'bread');
    await site.store.update('1', { finished: 1 }, new Date());
    const bob = await site.open();
    const state = bob.evaluate(`new Promise((resolve) => new MutationObserver(() => {
      const look = () => resolve(['#task-1', '.clear button'].map((part) =>
        getComputedStyle(document.querySelector(part)).pointerEvents));
      requestAnimationFrame((now) => {
        while (performance.now() < now + 400);
        setTimeout(look, 300);
      });
    }).observe(document.querySelector('.tasks'), { childList: true }))`);
    await site.add('tea');
    expect(await state).toEqual(['none', 'none']);
  });

  test('ignore a tap that would undo what another user has just done', async () => {
    await site.add('milk', 'bread');
    const bob = await site.openStill('/');
    const { x = 0, y = 0 } = (await bob.getByLabel('Finish: milk').boundingBox()) ?? {};
    await site.store.update('1', { finished: 1 }, new Date());
    await bob.locator('#task-1.finished').waitFor();
    await bob.mouse.click(x + 9, y + 9);
    expect(await bob.locator('.busy, [data-pending]').count()).toBe(0);
  });

  test('do not move when the user finishes the first visible row', async () => {
    await site.add(...tasks.slice(0, 60));
    const bob = await site.open('/', phone);
    // Otherwise the test's tap would scroll.
    await appeared(bob);
    await bob.evaluate("document.getElementById('task-30').scrollIntoView(); scrollBy(0, -20)");
    const before = await top('#task-29', bob);
    await bob.getByRole('link', { name: 'Finish: task 30', exact: true }).tap();
    await bob.locator('#task-30:last-child').waitFor();
    expect(await top('#task-29', bob)).toBe(before);
  });

  test('do not move when another user finishes the edited task or the next task', async () => {
    await site.add(...tasks.slice(0, 9));
    const bob = await site.open('/', phone);
    await bob.getByLabel('More: task 8').tap();
    await bob.getByLabel('Edit: task 8').tap();
    const before = await top('#title-8', bob);
    for (const id of ['8', '7']) {
      await site.store.update(id, { finished: 1 }, new Date());
      await poll(() => bob.locator('#count').textContent()).toBe(
        `${Number(id)} open, ${9 - Number(id)} finished`,
      );
      expect(await top('#title-8', bob)).toBe(before);
    }
    await site.add('milk');
    await poll(() => notice(bob)).toContain('3 changes. Show');
    expect(await top('#title-8', bob)).toBe(before);
    await bob.getByRole('link', { name: 'Cancel' }).tap();
    const others = [9, 6, 5, 4, 3, 2, 1].map((n) => `task ${n}`);
    await poll(() => titles(bob)).toEqual(['milk', ...others, '(task 8)', '(task 7)']);
  });
});
