import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  edit,
  enter,
  field,
  focused,
  notice,
  poll,
  stored,
  titles,
  useBrowser,
} from '../../testing/browser.ts';
import { startRelay } from '../../testing/relay.ts';

const site = useBrowser();
let relay: Awaited<ReturnType<typeof startRelay>>;
beforeAll(async () => {
  relay = await startRelay(site.url);
});
afterEach(() => {
  relay.restore();
  relay.withdrawn.clear();
});
afterAll(() => relay.stop());

const connection = (page: Page) => page.locator('#connection').textContent();

/** The paths of the pages and files that the device keeps. */
const kept = (page: Page): Promise<string[]> =>
  page.evaluate(`(async () => {
    const paths = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
    return paths;
  })()`);

const waiting = (page: Page, key: 'ticks' | 'lines') => page.evaluate(`localStorage.getItem('${key}')`);

/** Opens the list on a new device, and waits until the device keeps it. */
async function open() {
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  await page.goto(relay.url);
  await poll(() => kept(page)).toContain('/');
  return page;
}

const finish = (page: Page, title: string) => page.getByLabel(`Finish: ${title}`).click();

/** Reopens the app, as after a crash. */
const reopen = async (page: Page) => {
  const again = await page.context().newPage();
  await page.close();
  await again.goto(relay.url);
  return again;
};

describe('Without a connection', () => {
  test.each(['down', 'hung'] as const)(
    'the list opens as it was last seen, with its time (%s)',
    async (how) => {
      await site.add('milk', 'bread');
      const page = await open();
      relay.lose(how);
      await page.reload();
      await poll(() => titles(page)).toEqual(['bread', 'milk']);
      expect(await connection(page)).toMatch(/^As of \d{1,2}:\d\d.*, no connection\.$/);
      expect(await page.evaluate("getComputedStyle(document.querySelector('main')).display")).toBe('flex');
      relay.restore();
      await poll(() => connection(page)).toBe('');
    },
  );

  test('only the list and its files are kept', async () => {
    const page = await open();
    for (const path of ['/tasks/import', '/?filter=open', '/tasks/removals'])
      await page.goto(relay.url + path.slice(1));
    const others = (await kept(page)).filter((path) => !/^\/(public\/[\da-f]{12}\/[\w.-]+)?$/.test(path));
    expect(others).toEqual([]);
  });

  test('a tick waits, survives a crash, and is sent once there is a connection', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    relay.lose();
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    expect(await titles(page)).toEqual(['bread', '(milk)']);
    const again = await reopen(page);
    await poll(() => titles(again)).toEqual(['bread', '(milk)']);
    expect(await again.locator('[data-waits] .title').textContent()).toBe('milk');
    expect((await site.store.list({ filter: 'open' })).open).toBe(2);
    relay.restore();
    await poll(() => notice(again)).toContain('Sent.');
    await poll(() => connection(again)).toBe('');
    expect((await site.store.list({ filter: 'open' })).tasks).toMatchObject([{ title: 'bread' }]);
    await poll(() => again.locator('[data-waits]').count()).toBe(0);
    expect(await waiting(again, 'ticks')).toBeNull();
  });

  test('a task that somebody has deleted is dropped and named, and holds up nothing', async () => {
    const [milk = ''] = await site.add('milk', 'bread');
    const page = await open();
    relay.lose();
    for (const title of ['milk', 'bread']) await finish(page, title);
    await poll(() => connection(page)).toContain('2 ticks wait on this device.');
    await site.store.destroy(milk, 'removal');
    relay.restore();
    await poll(() => notice(page)).toMatch(/milk.*There is no such task/);
    await poll(async () => (await site.store.list({ filter: 'all' })).tasks).toMatchObject([
      { title: 'bread', finished: 1 },
    ]);
    expect(await waiting(page, 'ticks')).toBeNull();
  });

  test('new lines wait in the field, survive a crash, and are sent once', async () => {
    const page = await open();
    relay.lose();
    await field(page).focus();
    await enter(page, 'milk');
    await poll(() => page.getByRole('button', { name: 'Add when online' }).count()).toBe(1);
    expect(await connection(page)).toContain('1 new task waits on this device.');
    const again = await reopen(page);
    expect(await field(again).inputValue()).toContain('milk');
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk']);
    await poll(() => field(again).inputValue()).toBe('');
    await poll(() => waiting(again, 'lines')).toBeNull();
    await poll(() => titles(again)).toEqual(['milk']);
  });

  test('lines that the server refuses stay in the field, and are not sent again', async () => {
    const page = await open();
    const sent: string[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'POST') sent.push(`${response.status()}`);
    });
    relay.lose();
    await field(page).fill('x'.repeat(501));
    await field(page).press('Enter');
    await poll(() => waiting(page, 'lines')).toContain('xxx');
    relay.restore();
    await poll(() => page.getByRole('alert').textContent()).toContain('at most 500 characters');
    await site.add('later');
    await poll(() => titles(page)).toEqual(['later']);
    expect(sent).toEqual(['422']);
    expect(await waiting(page, 'lines')).toBeNull();
    expect(await field(page).inputValue()).toContain('xxx');
  });

  test('a tick that has to wait longer is not sent again at once', async () => {
    await site.add('milk');
    const page = await open();
    let sent = 0;
    await page.route('**/tasks/1', (route) => {
      sent += 1;
      return route.fulfill({ status: 429, body: '' });
    });
    relay.lose();
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    relay.restore();
    await poll(() => sent).toBeGreaterThan(0);
    await site.add('later');
    await poll(() => titles(page)).toContain('later');
    // Each event of the stream is one attempt. It comes after a change, and every 5 s.
    expect(sent).toBeLessThan(6);
  });

  test('deleting and editing say that they need a connection', async () => {
    await site.add('milk');
    const page = await open();
    relay.lose();
    await poll(() => connection(page)).toContain('no connection');
    await page.getByLabel('Delete: milk').click();
    await poll(() => notice(page)).toContain('No answer. It may be deleted.');
    await edit(page, 1, ' and bread');
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.editing .problem').textContent()).toBe('This needs a connection.');
    expect(await titles(page)).toEqual([]);
  });

  test('two pages of a device send what waits once', async () => {
    await site.add('bread');
    const page = await open();
    const other = await page.context().newPage();
    await other.goto(relay.url);
    relay.lose();
    await field(page).focus();
    await enter(page, 'milk');
    await finish(page, 'bread');
    await poll(() => connection(page)).toContain('1 tick and 1 new task wait on this device.');
    await other.reload();
    await poll(() => titles(other)).toEqual(['(bread)']);
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk', 'bread']);
    for (const each of [page, other]) {
      await poll(() => field(each).inputValue()).toBe('');
      await poll(() => titles(each)).toEqual(['milk', '(bread)']);
      await poll(() => connection(each)).toBe('');
    }
    expect(await stored(site)).toEqual(['milk', 'bread']);
  });

  test('text that the user changes again is sent only when the user presses Add', async () => {
    const page = await open();
    relay.lose();
    await field(page).focus();
    await enter(page, 'milk');
    await poll(() => waiting(page, 'lines')).toContain('milk');
    await page.keyboard.type('bre');
    expect(await waiting(page, 'lines')).toBeNull();
    relay.restore();
    await poll(() => connection(page)).toBe('');
    expect(await stored(site)).toEqual([]);
    expect(await field(page).inputValue()).toMatch(/^milk\n?bre$/);
  });
});

test('a release without the worker ends it, and the device keeps nothing', async () => {
  const page = await open();
  relay.withdrawn.add('/public/worker.js');
  // Such a release does not register it, either.
  await page.addInitScript('ServiceWorkerContainer.prototype.register = async () => {};');
  // A page of another release.
  await page.evaluate(`(async () => {
    for (const name of await caches.keys()) await caches.delete(name);
  })()`);
  await page.goto(relay.url);
  await poll(() => kept(page)).toEqual([]);
  await poll(() =>
    page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)'),
  ).toBe(0);
});

test('nothing waits if the storage of the browser is blocked', async () => {
  await site.add('milk');
  const page = await open();
  await page.evaluate("Storage.prototype.setItem = () => { throw new Error('blocked'); }");
  relay.lose();
  await finish(page, 'milk');
  await poll(() => notice(page)).toMatch(/milk.*(No answer|needs a connection)/);
  expect(await titles(page)).toEqual(['milk']);
  expect(await focused(page)).not.toBe('BODY');
});
