import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import { startVisits, type Visits } from '../../testing/visit.ts';

const web: Web = {
  'https://sho.rt/a': to('https://www.example.com/'),
  'https://www.example.com/': {},
  'https://sho.rt/a.': to('https://dot.example/'),
  'https://dot.example/': { status: 503 },
};

let visits: Visits;
beforeAll(async () => {
  visits = await startVisits(scriptedApp(web));
});
afterAll(() => visits.close());

describe.each([true, false])('what is pasted, with JavaScript %s', (javaScriptEnabled) => {
  test.each(['Look at https://sho.rt/a.', 'hxxps://sho[.]rt/a', '<https//sho.rt/a>', 'https://sho.rt / a'])(
    'is understood, and the page says as what: %s',
    (text) =>
      visits.visit({ javaScriptEnabled }, async (page) => {
        await page.goto(visits.origin);
        await page.getByLabel('Short URL').fill(text);
        await page.getByRole('button', { name: 'Expand' }).click();
        await page.getByText('Understood as').waitFor();
        expect(await page.locator('#understood .url').textContent()).toBe('https://sho.rt/a');
        expect(await page.getByLabel('Short URL').inputValue()).toBe(text);
        await expect
          .poll(() => page.locator('.destination .url').textContent())
          .toBe('https://www.example.com/');
        expect(await page.getByRole('link', { name: 'plain text' }).getAttribute('href')).toBe(
          '/api?u=https%3A%2F%2Fsho.rt%2Fa&follow=all',
        );
      }),
  );

  test('is one click away exactly as typed, and stays so for another try', () =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      await page.goto(visits.address('https://sho.rt/a.'));
      await page.getByRole('link', { name: 'Exactly as typed' }).click();
      for (const _ of [1, 2]) {
        await expect.poll(() => page.locator('.destination .url').textContent()).toBe('https://dot.example/');
        expect(await page.locator('#understood').count()).toBe(0);
        await page.getByRole('link', { name: 'Try again' }).click();
      }
    }));

  test('needs no word where it is a URL', () =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      await page.goto(visits.address('https://sho.rt/a'));
      expect(await page.locator('#understood').count()).toBe(0);
    }));
});

test('the API is as strict as it was', () =>
  visits.visit({}, async (page) => {
    const response = await page.goto(`${visits.origin}/api?u=${encodeURIComponent('https://sho.rt/a.')}`);
    expect(await response?.text()).toBe('https://dot.example/');
  }));

test('the text of the field is selected on focus, by key and by click', () =>
  visits.visit({}, async (page) => {
    await page.goto(visits.address('https://sho.rt/a'));
    const field = page.getByLabel('Short URL');
    const selected = () =>
      page.evaluate(`(({ selectionStart, selectionEnd }) => selectionEnd - selectionStart)(u)`);
    const all = 'https://sho.rt/a'.length;
    await field.click();
    await expect.poll(selected).toBe(all);
    // A second click places the caret.
    await field.click();
    await expect.poll(selected).toBe(0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await expect.poll(selected).toBe(all);
  }));
