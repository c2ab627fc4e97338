import { describe, expect, test } from 'vitest';
import { field, focused, titles, useBrowser } from '../../testing/browser.ts';
import { startService } from '../../testing/service.ts';

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
    await poll(() => bob.locator('#notice').textContent()).toBe('The list changed: 0 to do, 0 done');
  });

  test('a change of the other leaves Undo where it is', async () => {
    await site.add('milk', 'bread');
    const bob = await site.open();
    await bob.getByRole('button', { name: 'Delete: milk' }).click();
    await poll(() => titles(bob)).toEqual(['bread']);
    await site.add('tea');
    await poll(() => titles(bob)).toEqual(['tea', 'bread']);
    await bob.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(bob)).toEqual(['tea', 'bread', 'milk']);
  });

  test('each sees what the other does through another replica', async () => {
    const replica = await startService({ REDIS_URL: site.redisUrl });
    try {
      const [ada, bob] = await Promise.all([site.open(), site.open(replica.url)]);
      await ada.keyboard.type('milk');
      await ada.keyboard.press('Enter');
      await poll(() => titles(bob)).toEqual(['milk']);
      await bob.getByRole('link', { name: 'Finish: milk' }).click();
      await poll(() => titles(ada)).toEqual(['(milk)']);
    } finally {
      await replica.end('SIGKILL');
    }
  });

  test('what one types, and where, is left alone by a change of the other', async () => {
    await site.add('tea');
    const bob = await site.open();
    await bob.keyboard.type('brad');
    await bob.keyboard.press('ArrowLeft');
    await bob.keyboard.press('ArrowLeft');
    await site.add('milk');
    await poll(() => titles(bob)).toEqual(['milk', 'tea']);
    await bob.keyboard.type('e');
    await poll(() => field(bob).inputValue()).toBe('bread');
    await poll(() => focused(bob)).toBe('title');
  });

  test('the link that has the focus keeps it while tasks come and go round it', async () => {
    await site.add('milk', 'bread', 'tea');
    const bob = await site.open();
    await bob.getByRole('link', { name: 'Finish: bread' }).focus();
    await bob.evaluate('window.link = document.activeElement');
    await site.store.update('3', { finished: 1 }, new Date());
    await site.add('honey');
    await poll(() => titles(bob)).toEqual(['honey', 'bread', 'milk', '(tea)']);
    await poll(() => bob.evaluate('window.link === document.activeElement')).toBe(true);
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

  test('a task that somebody deletes while I edit it says so at once, keeps my text and can be added again', async () => {
    await site.add('milk', 'bread');
    const bob = await site.open();
    await bob.getByRole('link', { name: 'Edit: bread' }).click();
    await poll(() => focused(bob)).toBe('title-2');
    await bob.keyboard.type(' and butter');
    await site.store.destroy('2', 'gone');
    await poll(() => bob.getByRole('alert').textContent()).toBe(
      'Somebody deleted this task. What you typed is still here.',
    );
    expect(await bob.locator('#title-2').inputValue()).toBe('bread and butter');
    await bob.keyboard.type(', two');
    await bob.getByRole('button', { name: 'Add again' }).click();
    await poll(() => titles(bob)).toEqual(['bread and butter, two', 'milk']);
    await poll(() => bob.getByRole('status').textContent()).toBe('Added: bread and butter, two');
    await poll(() => bob.locator('.editing').count()).toBe(0);
  });

  test('a task that was deleted unseen can be added again too, and one that only left the filter is just edited', async () => {
    await site.add('milk', 'bread');
    const bob = await site.open('/?filter=open');
    await bob.route('**/tasks/events', (route) => route.abort());
    await bob.reload();
    await bob.getByRole('link', { name: 'Edit: bread' }).click();
    await poll(() => focused(bob)).toBe('title-2');
    await site.store.destroy('2', 'gone');
    await bob.keyboard.press('Enter');
    await poll(() => bob.getByRole('alert').textContent()).toContain('Somebody deleted this task.');
    await bob.keyboard.press('Enter');
    await poll(() => titles(bob)).toEqual(['bread', 'milk']);
    await bob.unroute('**/tasks/events');
    await bob.reload();
    await bob.getByRole('link', { name: 'Edit: milk' }).click();
    await poll(() => focused(bob)).toBe('title-1');
    await site.store.update('1', { finished: 1 }, new Date());
    await poll(() => bob.locator('#count').textContent()).toContain('1 done');
    await site.add('tea');
    await poll(() => titles(bob)).toEqual(['tea', 'bread']);
    expect(await bob.getByRole('alert').count()).toBe(0);
    expect(await bob.getByRole('button', { name: 'Save' }).count()).toBe(1);
  });
});

describe('A page that lost touch', () => {
  test('catches up with a service that was restarted', async () => {
    const env = { REDIS_URL: site.redisUrl, PORT: '0' };
    let service = await startService(env);
    try {
      const page = await site.open(service.url);
      await service.end('SIGKILL');
      await site.add('milk');
      service = await startService({ ...env, PORT: new URL(service.url).port });
      await expect.poll(() => titles(page), { timeout: 15_000 }).toEqual(['milk']);
    } finally {
      await service.end('SIGKILL');
    }
  });

  test('catches up with a store that was restarted', async () => {
    const page = await site.open();
    await site.withoutStore(async () => {});
    await site.add('milk');
    await expect.poll(() => titles(page), { timeout: 10_000 }).toEqual(['milk']);
  });

  test('lets its connection go while nobody sees it, and catches up when somebody does', async () => {
    const page = await site.open();
    const hide = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/tasks/events'));
    // A first change shows that the page is listening.
    await site.add('tea');
    await poll(() => titles(page)).toEqual(['tea']);
    await hide(true);
    await closed;
    await site.add('milk');
    await poll(() => titles(page)).toEqual(['tea']);
    await hide(false);
    await poll(() => titles(page)).toEqual(['milk', 'tea']);
  });
});
