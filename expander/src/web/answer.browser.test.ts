import { createServer } from 'node:http';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { stranger, web } from '../../testing/links.ts';
import { scriptedApp } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';

const visits = await startVisits(scriptedApp(web));
afterAll(() => visits.close());

describe.each([true, false])('with JavaScript %s', (javaScriptEnabled) => {
  const visit = (u: string, use: (page: Page) => Promise<void>) =>
    visits.visit({ javaScriptEnabled }, async (page) => {
      await page.goto(visits.address(u));
      await use(page);
    });

  test.each([
    ['s.example/title', [], ['Open it'], 'the URL without tracking'],
    ['s.example/down', ['Try again'], ['Open anyway'], 'the long URL'],
    ['s.example/loop', [], [], 'the long URL'],
  ])('the buttons have one order: %s', (u, first, open, what) =>
    visit(u, async (page) => {
      const controls = await page.locator('.actions').first().locator('a, button').allTextContents();
      const copy = javaScriptEnabled ? [`Copy ${what}`] : [];
      expect(controls).toEqual([...first, ...copy, ...open]);
    }),
  );

  test('the title is the last thing said of the page, and only text', () =>
    visit('s.example/title', async (page) => {
      expect(await page.getByText('Its title:').textContent()).toBe(`Its title: ${stranger}`);
      expect(await page.locator('bdi', { hasText: 'more' }).textContent()).toBe(stranger);
      expect(await page.locator('script').count()).toBe(1);
      await page.goto(visits.address('s.example/mixed'));
      const [read = ''] = await page.locator('#result > [slot=answer]').allInnerTexts();
      expect(read.indexOf('Mixed scripts')).toBeGreaterThan(0);
      expect(read.indexOf('Its title: Apple')).toBeGreaterThan(read.indexOf('Mixed scripts'));
    }));

  test.each([
    ['s.example/title', 's.example', ' → title.example'],
    ['none.example', 'none.example', ''],
    ['http://[', '', ''],
  ])('the document is named after the hosts, never in words of strangers: %s', (u, from, found) =>
    visit(u, async (page) => {
      const hosts = from + (javaScriptEnabled ? found : '');
      expect(await page.title()).toBe(hosts ? `${hosts} · Shorten URL Expand` : 'Shorten URL Expand');
    }),
  );

  test('what is pasted is understood, and the page says as what', () =>
    visit('', async (page) => {
      const text = 'Look at <hxxps//sho[.]rt / a>.';
      await page.getByLabel('Short URL').fill(text);
      await page.getByRole('button', { name: 'Expand' }).click();
      await page.getByText('Understood as').waitFor();
      expect(await page.locator('#understood .url').textContent()).toBe('https://sho.rt/a');
      expect(await page.getByLabel('Short URL').inputValue()).toBe(text);
      const destination = () => page.locator('.destination .url').textContent();
      await expect.poll(destination).toBe('https://www.example.com/');
    }));

  test('what was typed is one click away as it was typed, and stays so for another try', () =>
    visit('https://sho.rt/a.', async (page) => {
      await page.getByRole('link', { name: 'Exactly as typed' }).click();
      for (const _ of [1, 2]) {
        await expect.poll(() => page.locator('.destination .url').textContent()).toBe('https://dot.example/');
        expect(await page.locator('#understood').count()).toBe(0);
        await page.getByRole('link', { name: 'Try again' }).click();
      }
    }));
});

test('what was found is not coloured, what is wrong is, and forced colours leave a border', () =>
  visits.visit({}, async (page) => {
    const style = (selector: string, property: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
    const colours: unknown[] = [];
    for (const path of ['final', 'dead', 'down', 'mixed']) {
      await page.goto(visits.address(`s.example/${path}`));
      colours.push(await style('.verdict', 'backgroundColor'));
      const plain = 'rgba(0, 0, 0, 0)';
      expect((await style('.actions [rel]', 'borderTopColor')) === plain).toBe(path !== 'final');
    }
    expect(colours[0]).toBe('rgba(0, 0, 0, 0)');
    expect(new Set(colours).size).toBe(4);
    await page.emulateMedia({ forcedColors: 'active' });
    expect(await style('.verdict', 'borderTopWidth')).toBe('1px');
  }));

test('the buttons are equally wide, and share where the browser can', () =>
  visits.visit({ viewport: { width: 390, height: 800 } }, async (page) => {
    await page.addInitScript('navigator.share = async (data) => { shared = data; }');
    await page.goto(visits.address('s.example/title'));
    const buttons = await page.locator('.actions').first().locator('a, button').all();
    const widths = await Promise.all(buttons.map(async (each) => (await each.boundingBox())?.width));
    expect(new Set(widths).size).toBe(1);
    await page.getByRole('button', { name: 'Share the URL without tracking' }).click();
    expect(await page.evaluate('shared')).toEqual({ url: 'http://title.example/?id=1' });
  }));

test('"Try again" asks the website again, whatever was remembered', async () => {
  const website = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end());
  const port = await listening(website);
  onTestFinished(() => cutOff(website));
  let known = false;
  const expander = testExpander({
    lookup: (_, __, callback) => {
      if (known) callback(null, [{ address: '127.0.0.1', family: 4 }]);
      else callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    },
  });
  onTestFinished(() => expander.close());
  const own = await startVisits(expander.app);
  onTestFinished(() => own.close());
  const page = await own.openPage();
  await page.goto(own.address(`new.example:${port}/a?b=c&d`));
  expect(await page.locator('.verdict').textContent()).toBe('Broken link');
  known = true;
  await page.reload();
  expect(await page.locator('.verdict').textContent()).toBe('Broken link');
  await page.getByRole('link', { name: 'Try again' }).click();
  await page.getByText('Page found', { exact: true }).waitFor();
  expect(await page.getByLabel('Short URL').inputValue()).toBe(`new.example:${port}/a?b=c&d`);
});
