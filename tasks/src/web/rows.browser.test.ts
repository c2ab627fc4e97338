import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { field, poll, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
const long =
  'A title that is rather long and goes on until it has to wrap at the end of the row, even on a wide one';

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
      await page.evaluate("document.querySelector('details').open = true");
      await row(page, '1').getByRole('button', { name: 'Delete' }).focus();
      expect(await size(title)).toEqual(before);
      await page.getByRole('link', { name: 'Finish:' }).click();
      await poll(() => titles(page)).toEqual([`(${long})`]);
      await poll(() => size(title)).toMatchObject({ width: before.width, height: before.height });
    },
  );

  test('can be edited though its time is none, which somebody wrote into the store', async () => {
    await site.store.insert([{ title: 'milk', finished: 0, created_at: 'yesterday' }]);
    const page = await site.open('/');
    await row(page, '1').hover();
    await page.getByRole('link', { name: 'Edit: milk' }).click();
    await poll(() => row(page, '1').getByLabel('Title').inputValue()).toBe('milk');
    expect(await page.locator('.when').textContent()).toContain('added');
  });

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('under a finger, %s,', (_how, javaScriptEnabled) => {
    test('shows what can be done by its own button alone, and a second tap at one place acts on no other task', async () => {
      await site.add('bread', 'milk');
      const page = await site.open('/', { ...phone, javaScriptEnabled });
      const shown = () => page.locator('details[open]').count();
      const tapTwice = async (name: string) => {
        const { x = 0, y = 0, width = 0, height = 0 } = (await page.getByLabel(name).boundingBox()) ?? {};
        await page.touchscreen.tap(x + width / 2, y + height / 2);
        await poll(() => titles(page)).not.toContain(name.replace(/.*: /, ''));
        await page.touchscreen.tap(x + width / 2, y + height / 2);
      };
      await row(page, '2').locator('.title').tap();
      expect(await shown()).toBe(0);
      await page.getByLabel('More: bread').tap();
      await page.getByLabel('More: milk').tap();
      expect(await shown()).toBe(1);
      await tapTwice('Delete: milk');
      await field(page).fill('tea');
      await field(page).press('Enter');
      await poll(() => titles(page)).toEqual(['tea', 'bread']);
      await page.getByLabel('Finish: tea').tap();
      await poll(() => titles(page)).toEqual(['bread', '(tea)']);
      expect(await shown()).toBe(0);
    });
  });

  test('has targets of 44 px for a finger, and of 24 px for a mouse', async () => {
    await site.add('milk');
    await site.store.update((await site.add('tea'))[0] ?? '', { finished: 1 }, new Date());
    const tooSmall = (page: Page, least: number, selector: string) =>
      page.evaluate(`[...document.querySelectorAll('${selector}')]
        .map((target) => ({ name: target.ariaLabel || target.textContent, ...target.getBoundingClientRect().toJSON() }))
        .filter(({ width, height }) => width > 0 && Math.min(width, height) < ${least}).map(({ name }) => name)`);
    const onPhone = await site.open('/', phone);
    await onPhone.getByLabel('More: milk').tap();
    await onPhone.getByLabel('Delete: milk').tap();
    await onPhone.getByLabel('More: tea').tap();
    await onPhone.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await tooSmall(onPhone, 44, 'a, button, summary')).toEqual([]);
    expect(await onPhone.getByRole('link', { name: 'Keys' }).isVisible()).toBe(false);
    await onPhone.getByLabel('Edit: tea').tap();
    await onPhone.getByRole('button', { name: 'Save' }).waitFor();
    expect(await tooSmall(onPhone, 44, '.editing :is(textarea, a, button)')).toEqual([]);
    for (const path of [
      '/tasks/import',
      '/tasks/removals',
      '/tasks/2/edit',
      '/tasks/2',
      '/tasks/7',
      '/public/keys.html',
    ]) {
      await onPhone.goto(path);
      expect(await tooSmall(onPhone, 44, 'a, button, summary'), path).toEqual([]);
    }
    const atDesk = await site.open();
    expect(await tooSmall(atDesk, 24, 'a, button, input')).toEqual([]);
  });
});

test('A notice of what went wrong can be closed, and goes by itself once the server answers', async () => {
  await site.add('milk');
  const page = await site.openNew('/tasks/new');
  await page.clock.install();
  await page.goto('/');
  const notice = page.getByRole('status');
  await page.route('**/finish', (route) => route.abort());
  const fail = async () => {
    await page.getByRole('link', { name: 'Finish: milk' }).click();
    await poll(() => notice.textContent()).toContain('no connection');
  };
  await fail();
  await page.getByRole('button', { name: 'Close' }).click();
  await poll(() => notice.textContent()).toBe('');
  await fail();
  // Long enough to be read.
  await page.clock.fastForward(6_000);
  await site.add('bread');
  await poll(() => notice.textContent()).not.toContain('no connection');
});

describe('A URL in a title', () => {
  const short = 'Read https://bit.ly/3xYz, then tell';

  test('is struck out with its title, and edited as the text it is', async () => {
    await site.add(short);
    const page = await site.open();
    await page.getByRole('link', { name: `Finish: ${short}` }).click();
    await poll(() => titles(page)).toEqual([`(${short})`]);
    await page.getByRole('link', { name: `Edit: ${short}` }).click();
    await poll(() => page.getByLabel('Title').inputValue()).toBe(short);
  });
});
