import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { listening } from '@longhand/shared/testing/listening.ts';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  appeared,
  edit,
  enter,
  field,
  focused,
  notice,
  poll,
  titles,
  useBrowser,
} from '../../testing/browser.ts';

const site = useBrowser();

const alert = (page: Page) => page.getByRole('alert').textContent();
const now = new Date().toISOString();
const search = (page: Page) => new URL(page.url()).searchParams;

const phone = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };

describe('The list page without scripts', () => {
  const open = (path = '/') => site.open(path, { javaScriptEnabled: false });

  test('keeps a rejected title in the field and shows the reason', async () => {
    const page = await open();
    await page.keyboard.insertText('x'.repeat(501));
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('at most 500 characters');
    expect(await field(page).inputValue()).toBe('x'.repeat(501));
    await poll(() => focused(page)).toBe('title');
    for (const key of ['End', 'Backspace', 'Enter']) await page.keyboard.press(key);
    await poll(() => titles(page)).toEqual(['x'.repeat(500)]);
    await poll(() => focused(page)).toBe('title');
  });

  test('keeps the filter when tasks are added, edited, deleted, restored, cleared and reopened', async () => {
    await site.store.insert([{ title: 'done', finished: 1, created_at: now }]);
    const page = await open('/?filter=finished');
    await enter(page, 'milk');
    await poll(() => notice(page)).toMatch(/^\s*Added: milk\s+Undo\s+Show\s*$/);
    expect(await titles(page)).toEqual(['(done)']);
    await page.getByRole('link', { name: 'Edit: done' }).click();
    const title = page.getByLabel('Title');
    await title.waitFor();
    await site.store.update('1', { title: 'all done' }, new Date());
    await title.fill('quite done');
    await page.keyboard.press('Enter');
    await poll(() => alert(page)).toContain('all done');
    await poll(() => title.inputValue()).toBe('quite done');
    await title.press('Enter');
    await poll(() => titles(page)).toEqual(['(quite done)']);
    await page.getByRole('link', { name: 'Edit: quite done' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    for (const [button, shown] of [
      ['Delete: quite done', []],
      ['Undo', ['(quite done)']],
      ['Clear finished', []],
      ['Undo', ['(quite done)']],
    ] as const) {
      await page.getByRole('button', { name: button }).click();
      await poll(() => titles(page)).toEqual(shown);
    }
    await page.getByRole('link', { name: 'Reopen: quite done' }).click();
    await poll(() => titles(page)).toEqual([]);
    expect(search(page).get('filter')).toBe('finished');
  });

  test('keeps its scroll position when a task far down the list is finished, edited or deleted', async () => {
    await site.add(...Array.from({ length: 40 }, (_, i) => `task ${i + 1}`));
    const page = await open();
    const isSeen = (id: number) =>
      page.evaluate(`(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
        document.getElementById('task-${id}').getBoundingClientRect())`);
    await page.getByLabel('Finish: task 20').click();
    await poll(() => notice(page)).toContain('Finished: task 20');
    await poll(() => isSeen(21)).toBe(true);
    expect(await isSeen(20)).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => isSeen(20)).toBe(true);
    await page.getByLabel('Edit: task 20').click();
    await page.getByLabel('Title').fill('my task 20');
    await page.keyboard.press('Enter');
    await poll(() => notice(page)).toContain('Saved: my task 20');
    await poll(() => isSeen(20)).toBe(true);
    await page.getByLabel('Delete: my task 20').click();
    await poll(() => notice(page)).toContain('Deleted: my task 20');
    await poll(() => isSeen(21)).toBe(true);
  });

  test('pages through a long list, and stays on the page after a change', async () => {
    const tasks = Array.from({ length: 202 }, (_, i) => ({ title: `task ${i + 1}`, created_at: now }));
    await site.store.insert(tasks.map((task, i) => ({ ...task, finished: i === 0 ? 1 : 0 })));
    const page = await open();
    const pages = () => page.evaluate("document.querySelector('.pages').textContent");
    const go = (where: 'prev' | 'next') => page.locator(`[rel=${where}]`).press('Enter');
    await poll(pages).toMatch(/^\s*Page 1 of 3\s+Next\s*$/);
    await go('next');
    await poll(pages).toMatch(/^\s*Page 2 of 3\s+Previous\s+Next\s*$/);
    // A second tap on Previous must not hit a circle of the next page.
    expect((await page.locator('[rel=prev]').boundingBox())?.x).toBeGreaterThan(400);
    await site.add('milk', 'bread');
    await go('next');
    await poll(pages).toMatch(/^\s*Page 3 of 3\s+Previous\s*$/);
    await poll(() => titles(page)).toEqual(['task 2', '(task 1)']);
    await field(page).fill('tea');
    await field(page).press('Enter');
    await poll(() => notice(page)).toContain('Added: tea');
    await page.getByRole('link', { name: 'Finish: task 2' }).click();
    await poll(() => titles(page)).toEqual(['(task 2)', '(task 1)']);
    await page.getByLabel('Edit: task 1').click();
    await page.getByLabel('Title').fill('x'.repeat(501));
    await page.keyboard.press('Enter');
    await alert(page);
    await page.getByLabel('Title').fill('task 0');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['(task 2)', '(task 0)']);
    expect(search(page).get('after')).toMatch(/^-\d+$/);
    await go('prev');
    await poll(async () => (await titles(page))[0]).toBe('task 102');
  });
});

describe('The list page', () => {
  test('has a URL for each filter, and Back works', async () => {
    await site.add('milk', 'bread');
    await site.store.update('1', { finished: 1 }, new Date());
    const page = await site.open();
    for (const [name, shown] of Object.entries({ Open: ['bread'], Finished: ['(milk)'] })) {
      await page.getByRole('link', { name, exact: true }).click();
      await poll(() => titles(page)).toEqual(shown);
      expect(await page.locator('[aria-current=page]').textContent()).toBe(name);
    }
    await page.goBack();
    await poll(() => titles(page)).toEqual(['bread']);
  });

  test('adds only one task on a double click, and Show displays the task', async () => {
    const page = await site.open('/?filter=finished');
    await page.evaluate("addEventListener('invalid', () => document.body.classList.add('asked'), true)");
    await field(page).fill('milk');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    expect(await focused(page)).toBe('title');
    await page.getByRole('link', { name: 'Show' }).waitFor();
    expect(await page.locator('body.asked').count()).toBe(0);
    await page.getByRole('link', { name: 'Show' }).click();
    await poll(() => titles(page)).toEqual(['milk']);
    expect(search(page).size).toBe(0);
  });

  test('shows no counts for an empty list, and reports Cleared after Clear finished', async () => {
    const page = await site.open();
    expect(await page.locator('#count').textContent()).toBe('No tasks');
    expect(await page.title()).toBe('No tasks · Tasks');
    await site.store.insert([{ title: 'long '.repeat(100).trim(), finished: 1, created_at: now }]);
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await poll(() => notice(page)).toMatch(/^\s*Cleared: long/);
    expect((await page.locator('#notice').boundingBox())?.height).toBeLessThan(110);
  });

  test('imports pasted lines and exported files', async () => {
    await site.add('water');
    const page = await site.open();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('link', { name: 'JSON' }).click();
    const file = await (await downloaded).path();
    await page.getByRole('link', { name: 'Import' }).click();
    await page.getByLabel('One task on each line').fill('milk\n- [x] tea\nbread');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await poll(() => page.getByRole('status').textContent()).toContain('3 tasks imported.');
    const buffer = await readFile(file);
    await page.getByLabel('One task on each line').fill('honey');
    await page.getByLabel('A file').setInputFiles({ name: 'a.png', mimeType: '', buffer: Buffer.from([0]) });
    await page.getByRole('button', { name: 'Import the file' }).click();
    await poll(() => page.getByRole('alert').textContent()).toBe('This is not a text file in UTF-8.');
    await poll(() => page.getByLabel('One task on each line').inputValue()).toBe('honey');
    await page.getByLabel('A file').setInputFiles({ name: 'tasks.json', mimeType: '', buffer });
    await page.getByRole('button', { name: 'Import the file' }).click();
    await poll(() => page.getByRole('status').textContent()).toContain('1 task imported.');
    await poll(() => page.getByLabel('One task on each line').inputValue()).toBe('honey');
    await page.getByRole('link', { name: 'See the tasks' }).click();
    await poll(() => titles(page)).toEqual(['water', 'milk', 'bread', 'water', '(tea)']);
  });

  test('links URLs without sending a referrer, and adds a "Where to?" link to short URLs', async () => {
    const short = 'Read https://bit.ly/3xYz, then tell';
    await site.add(short);
    const page = await site.open();
    await page.getByRole('link', { name: `Finish: ${short}` }).click();
    await poll(() => titles(page)).toEqual([`(${short})`]);
    await edit(page, 1, '');
    expect(await page.locator('#title-1').inputValue()).toBe(short);
    await page.keyboard.press('Escape');
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

  test('restores several deletions from Recently deleted', async () => {
    await site.add('milk', 'bread', 'tea', 'rice');
    for (const id of ['1', '2']) await site.store.update(id, { finished: 1 }, new Date());
    await site.store.destroy('3', 'removal of tea');
    await site.store.clearFinished('removal of two');
    const page = await site.open();
    await page.getByRole('link', { name: 'Recently deleted' }).click();
    await page.getByRole('button', { name: 'Restore: tea' }).click();
    await poll(() => page.getByRole('status').textContent()).toBe('Restored 1 task.');
    await poll(() => page.locator('.what').textContent()).toBe('bread and 1 more');
    await site.store.restore('removal of two');
    await page.getByRole('button', { name: 'Restore: bread' }).click();
    await poll(() => page.getByRole('status').textContent()).toMatch(/^Already restored/);
    await poll(() => page.locator('main').textContent()).toContain('There are no deleted tasks');
    await page.getByRole('link', { name: 'All tasks' }).click();
    await poll(() => titles(page)).toEqual(['rice', 'tea', '(bread)', '(milk)']);
  });
});

test('The edit form shows the age in local time, and opens even if a time is invalid', async () => {
  await site.store.create({ title: 'milk' }, new Date('2024-02-29T23:30:15.678Z'));
  await site.store.insert([{ title: 'bread', finished: 0, created_at: 'yesterday' }]);
  const page = await site.open('/tasks/1/edit', { timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
  const age = page.locator('.when').first();
  await poll(() => age.textContent()).toBe('added 1 Mar 2024');
  await page.goto('/');
  await page.getByLabel('Edit: milk').click();
  await poll(() => age.textContent()).toBe('added 1 Mar 2024');
  await page.getByLabel('Edit: bread').click();
  await poll(() => page.locator('#task-2 .when').textContent()).toContain('added');
});

test.each(['a long title ', 'wordwithoutend'])(
  'The edit field fits a long title (%s), and Enter saves the title',
  async (part) => {
    const long = part.repeat(500 / part.length - 1).trim();
    await site.add(long);
    const page = await site.open('/', phone);
    await page.getByLabel(/^More:/).tap();
    await page.getByLabel(/^Edit:/).tap();
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
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual([`${long}, end`]);
  },
);

test('A reload and Back keep the place in a long list', async () => {
  await site.add(...Array.from({ length: 60 }, (_, i) => `task ${i}`));
  const page = await site.open('/', phone);
  await page.evaluate("new Promise((done) => { addEventListener('scrollend', done); scrollTo(0, 1500); })");
  await page.reload();
  await poll(() => page.evaluate('scrollY')).toBe(1500);
  await page.goto('/tasks/import');
  await page.goBack();
  await poll(() => page.evaluate('scrollY')).toBe(1500);
});

test('Text at 200 % fits on a phone', async () => {
  const page = await site.open('/', phone);
  await page.evaluate("document.documentElement.style.fontSize = '34px'");
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
});

const long =
  'A title that is rather long and goes on until it has to wrap at the end of the row, even on a wide one';

const row = (page: Page, id: string) => page.locator(`#task-${id}`);
const size = async (element: Locator) => (await element.boundingBox()) ?? { width: 0, height: 0 };

describe('A task row', () => {
  test.each([
    ['at a desk', undefined],
    ['on a phone', phone],
  ])(
    'wraps the title the same way when the task is finished or shows actions (%s)',
    async (_where, options) => {
      await site.store.insert([{ title: long, finished: 0, created_at: '2024-12-31T12:00:00.000Z' }]);
      const page = await site.open('/', options);
      const title = row(page, '1').locator('.title');
      const before = await size(title);
      await page.evaluate("document.querySelector('details').open = true");
      await row(page, '1').getByRole('button', { name: 'Delete' }).focus();
      expect(await size(title)).toEqual(before);
      await page.getByRole('link', { name: 'Finish:' }).click();
      await poll(() => titles(page)).toEqual([`(${long})`]);
      await poll(() => size(title)).toMatchObject({ width: before.width, height: before.height });
    },
  );

  async function tapTwice(page: Page, name: string) {
    await appeared(page);
    const { x = 0, y = 0, width = 0, height = 0 } = (await page.getByLabel(name).boundingBox()) ?? {};
    await page.touchscreen.tap(x + width / 2, y + height / 2);
    await poll(() => titles(page)).not.toContain(name.replace(/.*: /, ''));
    await page.touchscreen.tap(x + width / 2, y + height / 2);
  }

  test('shows actions only after a tap on More, and a second tap never acts on another task', async () => {
    await site.add('bread', 'milk');
    const page = await site.open('/', { ...phone, javaScriptEnabled: false });
    const shown = () => page.locator('details[open]').count();
    await row(page, '2').locator('.title').tap();
    expect(await shown()).toBe(0);
    await page.getByLabel('More: bread').tap();
    await page.getByLabel('More: milk').tap();
    expect(await shown()).toBe(1);
    await tapTwice(page, 'Delete: milk');
    await field(page).fill('tea');
    await field(page).press('Enter');
    await poll(() => titles(page)).toEqual(['tea', 'bread']);
    await page.getByLabel('Finish: tea').tap();
    await poll(() => titles(page)).toEqual(['bread', '(tea)']);
  });

  test('has targets of 44 px for touch and 24 px for mice', async () => {
    await site.add('milk');
    await site.store.update((await site.add('tea'))[0] ?? '', { finished: 1 }, new Date());
    const tooSmall = (page: Page, least: number, selector: string) =>
      page.evaluate(`[...document.querySelectorAll('${selector}')]
        .map((target) => ({ name: target.ariaLabel || target.textContent, ...target.getBoundingClientRect().toJSON() }))
        .filter(({ width, height }) => width > 0 && Math.min(width, height) < ${least}).map(({ name }) => name)`);
    const onPhone = await site.open('/', phone);
    await onPhone.getByLabel('More: milk').tap();
    await tapTwice(onPhone, 'Delete: milk');
    await poll(() => onPhone.locator('details[open]').count()).toBe(0);
    await onPhone.getByRole('button', { name: 'Undo' }).waitFor();
    // A row that has just moved ignores taps.
    await poll(() => onPhone.evaluate('document.getAnimations().length')).toBe(0);
    await onPhone.getByLabel('More: tea').tap();
    expect(await tooSmall(onPhone, 44, 'a, button, summary')).toEqual([]);
    expect(await onPhone.getByRole('link', { name: 'Keyboard shortcuts' }).isVisible()).toBe(false);
    await onPhone.getByLabel('Edit: tea').tap();
    await onPhone.getByRole('button', { name: 'Save' }).waitFor();
    expect(await tooSmall(onPhone, 44, '.editing :is(textarea, a, button)')).toEqual([]);
    expect(await onPhone.evaluate('getComputedStyle(document.activeElement).textAlign')).toBe('start');
    for (const path of ['import', 'removals', '2/edit', '2', '7', '../public/keys.html']) {
      await onPhone.goto(`/tasks/${path}`);
      expect(await tooSmall(onPhone, 44, 'a, button, summary'), path).toEqual([]);
    }
    expect(await tooSmall(await site.open(), 24, 'a, button, input, textarea')).toEqual([]);
  });
});

/** Browsers omit `Sec-Fetch-Site` for named hosts without TLS. */
describe('With a host name in a local network', () => {
  let list: string;
  /** Returns the URL of a page with `markup` on another site. */
  let elsewhere: (markup: string) => string;
  const stranger = createServer(({ url = '' }, response) => {
    response.setHeader('Content-Type', 'text/html').end(decodeURIComponent(url.slice(1)));
  });
  beforeAll(async () => {
    list = site.url.replace('127.0.0.1', 'tasks.local');
    const port = await listening(stranger);
    elsewhere = (markup) => `http://attacker.test:${port}/${encodeURIComponent(markup)}`;
  });
  afterAll(() => stranger.close());

  test("a link on our page finishes a task, but another site's image or redirect does not", async () => {
    await site.add('milk', 'bread', 'tea');
    const plain = await site.open(list, { javaScriptEnabled: false });
    await plain.getByRole('link', { name: 'Finish: tea' }).click();
    await poll(() => titles(plain)).toEqual(['bread', 'milk', '(tea)']);
    const page = await site.openNew(list);
    await page.getByRole('link', { name: 'Finish: bread' }).click();
    await poll(() => titles(page)).toEqual(['milk', '(tea)', '(bread)']);
    const link = `${list}task/1/finish`;
    const quiet = '<meta name=referrer content=no-referrer>';
    const answers = () => site.log.flatMap(({ path, status }) => (path === '/task/1/finish' ? [status] : []));
    for (const markup of [
      `<img src="${link}">`,
      `${quiet}<img src="${link}">`,
      `${quiet}<script>location = ${JSON.stringify(link)}</script>`,
    ]) {
      site.log.splice(0);
      // The script redirects before the page has loaded.
      await page.goto(elsewhere(markup), { waitUntil: 'commit' });
      await poll(answers).toEqual([403]);
    }
    expect((await site.store.show('1')).finished).toBe(0);
  });
});
