import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  field,
  focused,
  notice,
  paste,
  poll,
  showChanges,
  titles,
  useBrowser,
} from '../../testing/browser.ts';

const site = useBrowser();

/** Waits until the notice shows `said` and offers Undo. */
const offers = (page: Page, said: string) =>
  poll(() => notice(page)).toMatch(new RegExp(`^\\s*${said}\\s+Undo\\s*$`));

/** Finishes, reopens and edits the task `milk`, and undoes each change. */
async function undoEach(page: Page, undo: () => Promise<unknown>) {
  await page.getByLabel('Finish: milk').click();
  await offers(page, 'Finished: milk');
  await undo();
  await poll(() => titles(page)).toEqual(['milk']);
  await page.getByLabel('Finish: milk').click();
  await offers(page, 'Finished: milk');
  await page.getByLabel('Reopen: milk').click();
  await offers(page, 'Reopened: milk');
  await undo();
  await poll(() => titles(page)).toEqual(['(milk)']);
  await page.getByLabel('Edit: milk').click();
  await page.getByLabel('Title').fill('oat milk');
  await page.keyboard.press('Enter');
  await offers(page, 'Saved: oat milk');
  await undo();
  await poll(() => titles(page)).toEqual(['(milk)']);
}

describe('Finishing, reopening and editing', () => {
  test('can be undone without scripts until a reload hides the notice', async () => {
    await site.add('milk');
    const page = await site.open('/', { javaScriptEnabled: false });
    await undoEach(page, () => page.getByRole('button', { name: 'Undo' }).click());
    await page.getByLabel('Reopen: milk').click();
    await offers(page, 'Reopened: milk');
    await page.reload();
    expect(await notice(page)).toBe('');
  });

  test('can be undone once with Ctrl+Z', async () => {
    await site.add('milk');
    const page = await site.open();
    await undoEach(page, async () => {
      await page.locator('#list').focus();
      await page.keyboard.press('ControlOrMeta+Z');
      await poll(() => notice(page)).toMatch(/^Undone: (oat )?milk$/);
      await page.keyboard.press('ControlOrMeta+Z');
    });
    await page.reload();
    expect(await titles(page)).toEqual(['(milk)']);
  });

  test.each([true, false])(
    'cannot be undone if somebody else has changed or restored the task (scripts: %s)',
    async (javaScriptEnabled) => {
      await site.add('milk', 'bread');
      const page = await site.open('/', { javaScriptEnabled });
      const undo = page.getByRole('button', { name: 'Undo' });
      for (const [act, elsewhere, said] of [
        [
          () => page.getByRole('button', { name: 'Delete: bread' }).click(),
          async () => site.store.restore((await site.store.removals())[0]?.removal ?? ''),
          'There is nothing left to undo here.',
        ],
        [
          () => page.getByLabel('Finish: milk').click(),
          () => site.store.update('1', { title: 'oat milk' }, new Date()),
          'Somebody else changed this task. It is finished now and reads “\u2068oat milk\u2069”. Nothing was undone.',
        ],
      ] as const) {
        await act();
        await undo.waitFor();
        await elsewhere();
        await undo.click();
        await poll(() => page.locator('main').textContent()).toContain(said);
        expect(await undo.count()).toBe(0);
        if (javaScriptEnabled) expect(await focused(page)).toBe('list');
        if (!javaScriptEnabled) await page.getByRole('link', { name: /Back to the list|All tasks/ }).click();
        await poll(() => titles(page)).toHaveLength(2);
      }
    },
  );
});

describe('Adding', () => {
  test.each([true, false])('can be undone (scripts: %s)', async (javaScriptEnabled) => {
    await site.add('rice');
    const page = await site.open('/', { javaScriptEnabled });
    await field(page).fill('milk');
    await field(page).press('Enter');
    await offers(page, 'Added: milk');
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(page)).toEqual(['rice']);
    await poll(() => notice(page)).toMatch(/^\s*Undone: 1 task deleted.\s+Recently deleted\s*$/);
    await page.getByRole('link', { name: 'Recently deleted' }).first().click();
    await page.getByRole('button', { name: 'Restore: milk' }).click();
    await page.getByRole('link', { name: 'All tasks' }).click();
    await poll(() => titles(page)).toEqual(['milk', 'rice']);
  });

  test('a pasted list can be undone with Ctrl+Z, once, except for a task that somebody has changed', async () => {
    await site.add('rice');
    const page = await site.open();
    await paste(page, 'milk\nbread\ntea');
    await page.getByRole('button', { name: 'Add 3 tasks' }).click();
    await offers(page, 'Added 3 tasks');
    await site.store.update('2', { title: 'green tea' }, new Date());
    await poll(() => titles(page)).toContain('green tea');
    await page.locator('#list').focus();
    await page.keyboard.press('ControlOrMeta+Z');
    await poll(() => notice(page)).toContain('Undone: 2 tasks deleted. 1 changed since, and kept.');
    await page.keyboard.press('ControlOrMeta+Z');
    await poll(() => titles(page)).toEqual(['green tea', 'rice']);
    await page.reload();
    expect(await titles(page)).toEqual(['green tea', 'rice']);
  });

  test.each([true, false])(
    'a file can be undone at its report, or in the list (scripts: %s)',
    async (javaScriptEnabled) => {
      const page = await site.open('/tasks/import', { javaScriptEnabled });
      for (const showList of [false, true]) {
        await page.goto('/tasks/import');
        const file = { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('milk\nbread\n') };
        await page.getByLabel('A file').setInputFiles(file);
        await page.getByRole('button', { name: 'Import the file' }).click();
        await page.getByText('2 tasks imported').waitFor();
        if (showList) await page.getByRole('link', { name: 'See the tasks' }).click();
        if (showList) await offers(page, 'Added 2 tasks');
        await page.getByRole('button', { name: 'Undo' }).click();
        await poll(() => notice(page)).toContain('Undone: 2 tasks deleted.');
        expect(await titles(page)).toEqual([]);
      }
      expect((await site.store.removals()).map(({ count }) => count)).toEqual([2, 2]);
    },
  );
});

/** Returns the row IDs from the top, with an asterisk after struck-through rows. */
const rows = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.tasks > li')]
    .map((row) => row.id.slice(5) + (row.matches('.finished:not([data-pending=open]), [data-pending=finished]') ? '*' : '')).join(' ')`);

test.each([
  ['/', 'finish'],
  ['/?filter=open', 'unfinish'],
])(
  'A finished row stays in place until the list is at rest, and until the last response (%s, %s)',
  async (path, last) => {
    await site.add('milk', 'bread', 'tea');
    const page = await site.pageForAll();
    const held = Promise.withResolvers<void>();
    await page.route(`**/task/3/${last}*`, (route) => held.promise.then(() => route.continue()));
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    await page.goto(path);
    await page.getByLabel('Finish: bread').click();
    await offers(page, 'Finished: bread');
    await site.add('rice');
    await poll(() => notice(page)).toContain('1 change. Show');
    await page.clock.runFor(3_900);
    expect(await rows(page)).toBe('3 2* 1');
    if (last === 'unfinish') await page.getByLabel('Finish: tea').click();
    if (last === 'unfinish') await poll(() => notice(page)).toContain('Finished: tea');
    await page.locator('#task-3 .toggle').click();
    await page.clock.runFor(9_000);
    expect(await rows(page)).toBe(last === 'finish' ? '3* 2* 1' : '3 2* 1');
    held.resolve();
    await poll(() => rows(page)).toBe({ finish: '4 1 3* 2*', unfinish: '4 3 1' }[last]);
  },
);

test('Tasks that another user adds or finishes are tinted for two seconds, even with reduced motion', async () => {
  await site.add('milk', 'bread');
  const page = await site.openStill('/', { reducedMotion: 'reduce' });
  const tinted = () =>
    page.evaluate(`[...document.querySelectorAll('.tasks > li')]
      .filter((row) => getComputedStyle(row).backgroundColor === 'rgb(227, 239, 233)').map(({ id }) => id)`);
  // The response to the user's own change shows other users' changes, too.
  await page.route('**/task', (route) => site.add('jam').then(() => route.continue()), { times: 1 });
  await field(page).fill('tea');
  await field(page).press('Enter');
  await poll(() => titles(page)).toEqual(['tea', 'bread', 'milk']);
  expect(await tinted()).toEqual([]);
  await showChanges(page, 1);
  expect(await titles(page)).toEqual(['tea', 'jam', 'bread', 'milk']);
  expect(await tinted()).toEqual(['task-3']);
  await poll(tinted).toEqual([]);
  await site.add('rice');
  await showChanges(page, 1);
  await poll(tinted).toEqual(['task-5']);
  await poll(tinted).toEqual([]);
  await site.store.update('1', { finished: 1 }, new Date());
  await poll(tinted).toEqual(['task-1']);
});
