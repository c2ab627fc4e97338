import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, focused, notice, poll, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

const alert = (page: Page) => page.getByRole('alert').textContent();
const now = new Date().toISOString();

describe.each([
  ['with scripts', true],
  ['without scripts', false],
])('The list page %s', (_how, javaScriptEnabled) => {
  const open = (path = '/') => site.open(path, { javaScriptEnabled, acceptDownloads: true });

  test('has the focus in its one field, and Enter adds what is typed there, the same title twice too', async () => {
    const page = await open();
    for (const shown of [['milk'], ['milk', 'milk']]) {
      await poll(() => focused(page)).toBe('title');
      await page.keyboard.type('milk');
      await page.keyboard.press('Enter');
      await poll(() => titles(page)).toEqual(shown);
      await poll(() => field(page).inputValue()).toBe('');
    }
  });

  /** 201 open tasks and a finished one; the third page has task 1 and the finished one. */
  async function openPart(query: string) {
    const tasks = Array.from(
      { length: 201 },
      (_, i) => ({ title: `task ${i + 1}`, finished: 0, created_at: now }) as const,
    );
    await site.store.insert([...tasks, { title: 'done', finished: 1, created_at: now }]);
    return open(query);
  }
  const search = (page: Page) => new URL(page.url()).searchParams;

  test('leads back to the filter after each change: finish, edit, cancel, delete, undo, clear', async () => {
    const page = await openPart('/?filter=finished');
    const filter = () => search(page).get('filter');
    await page.getByRole('link', { name: 'Edit: done' }).click();
    await page.getByLabel('Title').fill('quite done');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['(quite done)']);
    await page.getByRole('link', { name: 'Edit: quite done' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await poll(() => titles(page)).toEqual(['(quite done)']);
    await page.getByRole('button', { name: 'Delete: quite done' }).click();
    await poll(() => titles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => titles(page)).toEqual(['(quite done)']);
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await poll(() => titles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'Reopen: quite done' }).click();
    await poll(() => titles(page)).toEqual([]);
    expect(filter()).toBe('finished');
  });

  test('leads through the pages of a long list and back, and back to a page after each change there', async () => {
    const page = await openPart('/');
    const pages = page.getByRole('navigation', { name: 'Pages' });
    const go = (name: string) => page.getByRole('link', { name, exact: true }).press('Enter');
    await poll(() => pages.textContent()).toMatch(/^\s*Page 1 of 3\s+Next\s*$/);
    await go('Next');
    await poll(() => pages.textContent()).toMatch(/^\s*Previous\s+Page 2 of 3\s+Next\s*$/);
    await site.add('milk', 'bread');
    await page.reload();
    await poll(() => pages.textContent()).toContain('Page 2 of 3');
    await go('Next');
    await poll(() => pages.textContent()).toMatch(/^\s*Previous\s+Page 3 of 3\s*$/);
    await poll(() => titles(page)).toEqual(['task 1', '(done)']);
    await page.getByRole('link', { name: 'Finish: task 1' }).click();
    await poll(() => titles(page)).toEqual(['(done)', '(task 1)']);
    await page.getByRole('link', { name: 'Edit: done' }).click();
    await page.getByLabel('Title').fill('x'.repeat(501));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Title').fill('all done');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['(all done)', '(task 1)']);
    expect(search(page).get('after')).toMatch(/^-\d+$/);
    await go('Previous');
    await poll(async () => (await titles(page))[0]).toBe('task 101');
    await page.goBack();
    await poll(() => titles(page)).toEqual(['(all done)', '(task 1)']);
  });

  test.each([
    ['Finished', '/?filter=finished'],
    ['a later page', '/?filter=all&after=-4503599627370498'],
  ])('says that a task was added under %s, with a link to it', async (_part, path) => {
    await site.store.insert([{ title: 'done', finished: 1, created_at: now }]);
    const page = await open(path);
    await field(page).fill('milk');
    await page.keyboard.press('Enter');
    await poll(() => notice(page)).toMatch(/^\s*Added: milk\s+Show\s*$/);
    expect(await titles(page)).toEqual(['(done)']);
    await page.getByRole('link', { name: 'Show' }).click();
    await poll(() => titles(page)).toEqual(['milk', '(done)']);
    expect(new URL(page.url()).search).toBe('');
  });

  test('shows all, open or finished tasks at addresses of their own, and Back works', async () => {
    await site.add('milk', 'bread');
    await site.store.update('1', { finished: 1 }, new Date());
    const page = await open();
    for (const [name, shown] of [
      ['Open', ['bread']],
      ['Finished', ['(milk)']],
    ] as const) {
      await page.getByRole('link', { name, exact: true }).click();
      await poll(() => titles(page)).toEqual(shown);
      await poll(() => page.locator('[aria-current=page]').textContent()).toBe(name);
    }
    expect(search(page).get('filter')).toBe('finished');
    await page.goBack();
    await poll(() => titles(page)).toEqual(['bread']);
    await page.goBack();
    await poll(() => titles(page)).toEqual(['bread', '(milk)']);
  });

  test('shows the title that somebody else gave a task I edit, keeps my text, and lets me send it again', async () => {
    await site.add('milk');
    const page = await open();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    const title = page.getByLabel('Title');
    await title.waitFor();
    await site.store.update('1', { title: 'oat milk' }, new Date());
    await title.fill('milk and honey');
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('oat milk');
    await poll(() => title.inputValue()).toBe('milk and honey');
    await title.press('Enter');
    await poll(() => titles(page)).toEqual(['milk and honey']);
  });

  test('keeps a refused title in its field, which says why beside it and has the focus', async () => {
    const page = await open();
    await field(page).fill('x'.repeat(501));
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('at most 500 characters');
    await poll(() => field(page).inputValue()).toBe('x'.repeat(501));
    await poll(() => field(page).getAttribute('aria-invalid')).toBe('true');
    const description = await field(page).getAttribute('aria-describedby');
    await poll(() => page.locator(`[id="${description}"]`).textContent()).toContain('at most 500');
    await poll(() => focused(page)).toBe('title');
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['x'.repeat(500)]);
  });

  test('adds one task for a double click, and does not ask for another', async () => {
    const page = await open();
    await page.evaluate("addEventListener('invalid', () => document.body.classList.add('asked'), true)");
    await field(page).fill('milk');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    await poll(() => titles(page)).toEqual(['milk']);
    expect((await site.store.list({ filter: 'all' })).open).toBe(1);
    expect(await page.locator('body.asked').count()).toBe(0);
  });
});

describe('The list page', () => {
  test('says nothing of numbers while there is no task, and answers Clear finished with Cleared', async () => {
    const page = await site.open();
    expect(await page.locator('#count').textContent()).toBe('No tasks');
    expect(await page.title()).toBe('No tasks · Tasks');
    await site.store.insert([{ title: 'long '.repeat(100).trim(), finished: 1, created_at: now }]);
    await page.reload();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await poll(() => notice(page)).toMatch(/^\s*Cleared: long/);
    expect((await page.locator('#notice').boundingBox())?.height).toBeLessThan(110);
  });

  test('imports a list in its order, and what Export wrote', async () => {
    await site.add('water');
    const page = await site.open();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('link', { name: 'JSON' }).click();
    const exported = await (await downloaded).path();
    await page.getByRole('link', { name: 'Import' }).click();
    await page.getByLabel('One task on each line').fill('milk\n- [x] tea\nbread');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await poll(() => page.getByRole('status').textContent()).toContain('3 tasks imported.');
    await page.getByLabel('A file').setInputFiles({
      name: 'tasks.json',
      mimeType: 'application/json',
      buffer: await readFile(exported),
    });
    await page.getByRole('button', { name: 'Import the file' }).click();
    await poll(() => page.getByRole('status').textContent()).toContain('1 task imported.');
    await page.getByRole('link', { name: 'See the tasks' }).click();
    await poll(() => titles(page)).toEqual(['water', 'milk', 'bread', 'water', '(tea)']);
  });

  test('makes a URL a link that tells the website nothing, and a short one has "where to?" beside it', async () => {
    await site.add('Read https://bit.ly/3xYz, then tell');
    const page = await site.open();
    const asked: Record<string, string | undefined>[] = [];
    await page.route(/bit\.ly|\/expand/, async (route) => {
      asked.push({ url: route.request().url(), referer: (await route.request().allHeaders()).referer });
      await route.fulfill({ contentType: 'text/html', body: '<h1>There</h1>' });
    });
    await page.getByRole('link', { name: 'https://bit.ly/3xYz', exact: true }).click();
    await page.getByText('There').waitFor();
    await page.goBack();
    await poll(() => titles(page)).toHaveLength(1);
    await page.getByRole('link', { name: 'Where to? https://bit.ly/3xYz' }).click();
    await page.getByText('There').waitFor();
    expect(asked[0]).toEqual({ url: 'https://bit.ly/3xYz', referer: undefined });
    expect(asked[1]?.url).toMatch(/\/expand\?u=https%3A%2F%2Fbit\.ly%2F3xYz$/);
  });

  test('restores several deletions, also when their pages are gone', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    for (const id of ['1', '2']) await site.store.update(id, { finished: 1 }, new Date());
    await site.store.destroy('3', 'removal of tea');
    await site.store.clearFinished('removal of two');
    const page = await site.open();
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
});

test('A task says its age where it is edited: in the zone of the reader, exact on hover, in UTC without scripts', async () => {
  await site.store.create({ title: 'milk' }, new Date('2024-02-29T23:30:15.678Z'));
  const page = await site.open('/', { timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
  for (const open of [() => page.getByLabel('Edit: milk').click(), () => page.goto('/tasks/1/edit')]) {
    await open();
    const time = page.locator('time');
    await poll(() => time.textContent()).toBe('Mar 2024');
    await poll(() => time.getAttribute('title')).toMatch(/^added Friday,? 1 March 2024 at 08:30:15 /);
    await poll(() => time.getAttribute('datetime')).toBe('2024-02-29T23:30:15.678Z');
  }
  await site.store.update('1', { finished: 1 }, new Date('2024-03-01T00:00:00.000Z'));
  const plain = await site.open('/tasks/1/edit', { javaScriptEnabled: false });
  await poll(() => plain.locator('.when').textContent()).toMatch(
    /^added 29 Feb 2024, 23:30 UTC,\s+finished 1 Mar 2024, 00:00 UTC$/,
  );
});

test('A long title is edited in a field that shows it whole, and Enter saves', async () => {
  await site.add('a long title '.repeat(38).trim());
  const page = await site.open('/', { viewport: { width: 360, height: 640 } });
  await page.getByLabel(/^Edit: a long/).click();
  const title = page.locator('#title-1');
  await title.waitFor();
  const hidden = () =>
    title.evaluate((field) => [
      field.scrollHeight - field.clientHeight,
      field.scrollWidth - field.clientWidth,
    ]);
  expect(await hidden()).toEqual([0, 0]);
  await page.keyboard.type(', end');
  expect(await hidden()).toEqual([0, 0]);
  await page.keyboard.press('Enter');
  await poll(() => titles(page)).toEqual([`${'a long title '.repeat(38).trim()}, end`]);
});

test('The links that change a task ask not to be followed, and nothing asks for a prefetch', async () => {
  await site.add('milk');
  const page = await site.open();
  await poll(() => page.locator('a[href^="/task/"]:not([rel~=nofollow])').count()).toBe(0);
  const asking = 'script[type=speculationrules], link:is([rel~=prefetch], [rel~=prerender])';
  await poll(() => page.locator(asking).count()).toBe(0);
});
