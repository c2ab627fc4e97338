import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, focused, poll, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
const long =
  'A title that is rather long and goes on until it has to wrap at the end of the row, even on a wide one';
const now = new Date().toISOString();

const row = (page: Page, id: string) => page.locator(`#task-${id}`);
const size = async (element: Locator) => (await element.boundingBox()) ?? { width: 0, height: 0 };

describe('The row of a task', () => {
  test.each([
    ['at a desk', undefined],
    ['on a phone', phone],
  ])(
    'never wraps its title anew: neither when it is finished nor for what can be done (%s)',
    async (_where, options) => {
      await site.store.insert([{ title: long, finished: 0, created_at: '2024-12-31T12:00:00.000Z' }]);
      const page = await site.open('/', options);
      const title = row(page, '1').locator('.title');
      const before = await size(title);
      await row(page, '1').getByRole('button', { name: 'Delete' }).focus();
      expect(await size(title)).toEqual(before);
      await page.getByRole('link', { name: 'Finish:' }).click();
      await poll(() => titles(page)).toEqual([`(${long})`]);
      await poll(() => size(title)).toMatchObject({ width: before.width, height: before.height });
    },
  );

  test('is one line of 360 px where its title is short, and says the time in as few characters as is clear', async () => {
    await site.store.insert([
      { title: 'bread', finished: 0, created_at: '2024-12-31T12:00:00.000Z' },
      { title: 'milk', finished: 0, created_at: now },
    ]);
    const page = await site.open('/', { ...phone, locale: 'en-GB' });
    expect((await size(row(page, '2'))).height).toBeLessThan(48);
    await poll(() => row(page, '2').locator('time').textContent()).toMatch(/^\d\d:\d\d$/);
    await poll(() => row(page, '1').locator('time').textContent()).toBe('Dec 2024');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  test('shows under the finger what can be done, and only a second tap does it', async () => {
    await site.add('milk');
    const page = await site.open('/', phone);
    const opacity = () => page.evaluate("getComputedStyle(document.querySelector('.actions')).opacity");
    const tap = async (name: string) => {
      const { x = 0, y = 0, width = 0, height = 0 } = (await page.getByLabel(name).boundingBox()) ?? {};
      await page.touchscreen.tap(x + width / 2, y + height / 2);
    };
    expect(await opacity()).toBe('0');
    await tap('Delete: milk');
    await poll(opacity).toBe('1');
    await tap('Edit: milk');
    await poll(() => page.locator('#title-1').inputValue()).toBe('milk');
    expect((await site.store.show('1')).title).toBe('milk');
  });

  test('has targets of 44 px for a finger, and of 24 px for a mouse', async () => {
    await site.add('milk');
    await site.store.update((await site.add('tea'))[0] ?? '', { finished: 1 }, new Date());
    const tooSmall = (page: Page, least: number, selector: string) =>
      page.evaluate(`[...document.querySelectorAll('${selector}')]
        .map((target) => ({ name: target.ariaLabel || target.textContent, ...target.getBoundingClientRect().toJSON() }))
        .filter(({ width, height }) => width > 0 && Math.min(width, height) < ${least}).map(({ name }) => name)`);
    const onPhone = await site.open('/', phone);
    expect(await tooSmall(onPhone, 44, '.main, #list a, #list button')).toEqual([]);
    const atDesk = await site.open();
    expect(await tooSmall(atDesk, 24, 'a, button, input')).toEqual([]);
  });
});

test('A long list says which page this is, and leads back as well as on', async () => {
  await site.store.insert(
    Array.from({ length: 250 }, (_, i) => ({ title: `task ${i + 1}`, finished: 0, created_at: now })),
  );
  const page = await site.open();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await poll(() => pages.textContent()).toMatch(/^\s*Page 1 of 3\s+Next\s*$/);
  await page.getByRole('link', { name: 'Next' }).click();
  await poll(() => pages.textContent()).toMatch(/^\s*Previous\s+Page 2 of 3\s+Next\s*$/);
  await page.getByRole('link', { name: 'Next' }).click();
  await poll(() => pages.textContent()).toMatch(/^\s*Previous\s+Page 3 of 3\s*$/);
  await page.getByRole('link', { name: 'Previous' }).click();
  await poll(async () => (await titles(page))[0]).toBe('task 150');
  await page.getByRole('link', { name: 'Previous' }).click();
  await poll(async () => (await titles(page))[0]).toBe('task 250');
});

describe.each([
  ['with scripts', true],
  ['without scripts', false],
])('What is done in a part of the list (%s)', (_how, javaScriptEnabled) => {
  /** 101 open tasks and a finished one; the second page has task 1 and the finished one. */
  async function openPart(query: string) {
    const tasks = Array.from(
      { length: 101 },
      (_, i) => ({ title: `task ${i + 1}`, finished: 0, created_at: now }) as const,
    );
    await site.store.insert([...tasks, { title: 'done', finished: 1, created_at: now }]);
    return site.open(query, { javaScriptEnabled });
  }
  const search = (page: Page) => new URL(page.url()).searchParams;

  test('leads back to its filter: finish, edit, cancel, delete, undo, clear', async () => {
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

  test('leads back to its page, also after a title that was refused', async () => {
    const page = await openPart('/');
    await page.getByRole('link', { name: 'Next' }).click();
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
  });

  test.each([
    ['Finished', '/?filter=finished'],
    ['a later page', '/?filter=all&after=-4503599627370498'],
  ])('a task that is added under %s is said to be added, with a link to it', async (_part, path) => {
    const page = await openPart(path);
    const shown = await titles(page);
    await field(page).fill('milk');
    await page.keyboard.press('Enter');
    await poll(() => page.getByRole('status').textContent()).toMatch(/^\s*Added: milk\s+Show\s*$/);
    expect(await titles(page)).toEqual(shown);
    await page.getByRole('link', { name: 'Show' }).click();
    await poll(async () => (await titles(page))[0]).toBe('milk');
    expect(new URL(page.url()).search).toBe('');
  });
});

test('The plain list has the links of the specification, and says nothing of a part', async () => {
  await site.add('milk');
  const page = await site.open();
  await poll(() => page.locator('#task-1 .toggle').getAttribute('href')).toBe('/task/1/finish');
  await poll(() => page.locator('form.write').getAttribute('action')).toBe('/task');
});

describe('A notice of what went wrong', () => {
  async function fail(code: string) {
    await site.add('milk');
    const page = await site.open();
    await page.route('**/finish', (route) => route.abort(code));
    await page.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(() => page.getByRole('status').textContent()).toContain('no connection');
    return page;
  }

  test('can be closed', async () => {
    const page = await fail('failed');
    await page.getByRole('button', { name: 'Close' }).click();
    await poll(() => page.getByRole('status').textContent()).toBe('');
  });

  test('goes by itself once the server answers', { timeout: 40_000 }, async () => {
    const page = await fail('failed');
    await expect.poll(() => page.getByRole('status').textContent(), { timeout: 30_000 }).toBe('');
  });

  test.each(['light', 'dark'] as const)(
    'is as readable as the rest, its links too (%s)',
    async (colorScheme) => {
      const page = await site.open('/', { colorScheme });
      await page.evaluate(
        "document.getElementById('notice').innerHTML = 'Added <a href=/>Show</a> <button>Undo</button>'",
      );
      const colours = () =>
        page.evaluate(`['#notice', '#notice a', '#notice button']
      .map((name) => getComputedStyle(document.querySelector(name)).color)`);
      const [text, ...others] = (await colours()) as string[];
      expect(others).toEqual([text, text]);
    },
  );
});

describe('A list that is pasted into the field', () => {
  const paste = (page: Page, text: string) =>
    page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ${JSON.stringify(text)});
      document.getElementById('title').dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }));
    }`);
  const stored = async () => (await site.store.list({ filter: 'all' })).tasks.map(({ title }) => title);

  test('is added by Enter, in its order, and the field is back', async () => {
    await site.add('water');
    const page = await site.open();
    await paste(page, 'milk\r\n\nbread\n- [x] tea\n');
    await page.getByRole('button', { name: 'Add 3 tasks' }).waitFor();
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['milk', 'bread', 'water', '(tea)']);
    await poll(() => page.getByRole('status').textContent()).toBe('Added 3 tasks');
    await poll(() => focused(page)).toBe('title');
    await page.keyboard.type('honey');
    await page.keyboard.press('Enter');
    await poll(() => titles(page)).toEqual(['honey', 'milk', 'bread', 'water', '(tea)']);
  });

  test('leaves its button on the screen of a phone', async () => {
    const page = await site.open('/', { viewport: { width: 390, height: 400 } });
    await paste(page, 'milk\nbread\ntea');
    await page.getByRole('button', { name: 'Add 3 tasks' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  test('can be changed before, and left', async () => {
    const page = await site.open();
    await paste(page, 'milk\nbread');
    await page.getByLabel('One task on each line').fill('milk\nbread\ntea\nhoney');
    await page.getByRole('button', { name: 'Add 4 tasks' }).waitFor();
    await page.keyboard.press('Escape');
    await poll(() => focused(page)).toBe('title');
    await paste(page, 'milk\nbread');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await poll(() => focused(page)).toBe('title');
    expect(await stored()).toEqual([]);
  });

  test('is added once, though its answer was lost, and wholly or not at all', async () => {
    const page = await site.open();
    await page.route('**/task', (route) => route.fetch({ maxRedirects: 0 }).then(() => route.abort()), {
      times: 1,
    });
    await paste(page, 'milk\nbread');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
    await poll(() => page.locator('form.lines').count()).toBe(0);
    await paste(page, `tea\n${'x'.repeat(501)}`);
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => page.getByRole('alert').textContent()).toMatch(/^Line 2: A title has at most 500/);
    await page.getByLabel('One task on each line').fill('tea\nhoney');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => titles(page)).toEqual(['tea', 'honey', 'milk', 'bread']);
    expect(await stored()).toEqual(['tea', 'honey', 'milk', 'bread']);
  });

  test('is said to be added where the list shows other tasks', async () => {
    const page = await site.open('/?filter=finished');
    await paste(page, 'milk\nbread');
    await page.getByRole('button', { name: 'Add 2 tasks' }).press('Enter');
    await poll(() => page.getByRole('status').textContent()).toBe('Added 2 tasks Show');
    await page.getByRole('link', { name: 'Show' }).click();
    await poll(() => titles(page)).toEqual(['milk', 'bread']);
  });

  test('of one line is typed into the field as ever', async () => {
    const page = await site.open();
    await paste(page, 'milk\n');
    await poll(() => page.locator('form.lines').count()).toBe(0);
  });
});

test.each([
  ['with scripts', true],
  ['without scripts', false],
])('Import takes a list in its order, and what Export wrote (%s)', async (_how, javaScriptEnabled) => {
  await site.add('water');
  const page = await site.open('/', { javaScriptEnabled, acceptDownloads: true });
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

describe('A URL in a title', () => {
  const short = 'Read https://bit.ly/3xYz, then tell';

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])(
    'is a link that tells the website nothing, and a short one has "where to?" beside it (%s)',
    async (_how, javaScriptEnabled) => {
      await site.add(short);
      const page = await site.open('/', { javaScriptEnabled });
      const asked: Record<string, string | undefined>[] = [];
      await page.route(/bit\.ly|\/expand/, async (route) => {
        asked.push({ url: route.request().url(), referer: (await route.request().allHeaders()).referer });
        await route.fulfill({ contentType: 'text/html', body: '<h1>There</h1>' });
      });
      await page.getByRole('link', { name: 'https://bit.ly/3xYz', exact: true }).click();
      await page.getByText('There').waitFor();
      await page.goBack();
      await poll(() => titles(page)).toEqual([short]);
      await page.getByRole('link', { name: 'Where to? https://bit.ly/3xYz' }).click();
      await page.getByText('There').waitFor();
      expect(asked[0]).toEqual({ url: 'https://bit.ly/3xYz', referer: undefined });
      expect(asked[1]?.url).toMatch(/\/expand\?u=https%3A%2F%2Fbit\.ly%2F3xYz$/);
    },
  );

  test('has its "where to?" in one piece, also on a phone', async () => {
    await site.add('See https://bit.ly/3abcde and tell');
    const page = await site.open('/', phone);
    const { height } = await size(page.getByRole('link', { name: 'Where to?' }));
    expect(height).toBeGreaterThan(0);
    expect(height).toBeLessThan(30);
  });

  test('is struck out with its title, and edited as the text it is', async () => {
    await site.add(short);
    const page = await site.open();
    await page.getByRole('link', { name: `Finish: ${short}` }).click();
    await poll(() => titles(page)).toEqual([`(${short})`]);
    await page.getByRole('link', { name: `Edit: ${short}` }).click();
    await poll(() => page.getByLabel('Title').inputValue()).toBe(short);
  });
});

test.each([
  ['with scripts', true],
  ['without scripts', false],
])(
  'The tab counts the open tasks, and the last one that is ticked is said to be (%s)',
  async (_how, javaScriptEnabled) => {
    await site.add('milk', 'tea');
    const page = await site.open('/', { javaScriptEnabled });
    const icon = async () => {
      const href = (await page.locator('link[rel=icon]').getAttribute('href')) ?? '';
      return (await page.request.get(href)).text();
    };
    const count = () => page.locator('#count').textContent();
    expect(await icon()).toContain('>2</text>');
    await page.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(count).toBe('1 to do, 1 done');
    await poll(icon).toContain('>1</text>');
    await page.getByRole('link', { name: 'Finish: tea' }).click();
    await poll(count).toBe('All done');
    await poll(() => page.title()).toBe('All done · Tasks');
    await poll(icon).toContain('<path');
  },
);
