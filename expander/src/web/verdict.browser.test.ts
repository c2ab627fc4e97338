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
    ['s.example/title', ['Open it'], ['Copy the long URL']],
    ['s.example/dead', ['Open anyway'], []],
    ['s.example/down', ['Try again', 'Open anyway'], []],
    ['s.example/mixed', ['Open anyway'], []],
    ['s.example/imitation', ['Open anyway'], []],
    ['s.example/mail', [], []],
    ['s.example/loop', ['Try again'], []],
    ['none.example', ['Try again'], []],
  ])('Copy comes first unless the link works: %s', (u, links, last) =>
    visit(u, async (page) => {
      const controls = await page.locator('.actions').first().locator('a, button').allTextContents();
      const first = last.length > 0 ? [] : ['Copy the long URL'];
      const expected = javaScriptEnabled ? [...first, ...links, ...last] : links;
      expect(controls).toEqual(expected);
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

  test.each(['Look at https://sho.rt/a.', 'hxxps://sho[.]rt/a', '<https//sho.rt/a>', 'https://sho.rt / a'])(
    'what is pasted is understood, and the page says as what: %s',
    (text) =>
      visit('', async (page) => {
        await page.getByLabel('Short URL').fill(text);
        await page.getByRole('button', { name: 'Expand' }).click();
        await page.getByText('Understood as').waitFor();
        expect(await page.locator('#understood .url').textContent()).toBe('https://sho.rt/a');
        expect(await page.getByLabel('Short URL').inputValue()).toBe(text);
        const destination = () => page.locator('.destination .url').textContent();
        await expect.poll(destination).toBe('https://www.example.com/');
      }),
  );

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

test('each verdict has a colour of its own, and the link that is not advised is plain', () =>
  visits.visit({}, async (page) => {
    const colours = new Set<unknown>();
    for (const path of ['title', 'dead', 'down', 'mixed']) {
      await page.goto(visits.address(`s.example/${path}`));
      colours.add(
        await page.evaluate("getComputedStyle(document.querySelector('.verdict')).backgroundColor"),
      );
      const border = await page.evaluate(
        "getComputedStyle(document.querySelector('.actions [rel]')).borderTopColor",
      );
      if (path === 'title') expect(border).not.toBe('rgba(0, 0, 0, 0)');
      else expect(border).toBe('rgba(0, 0, 0, 0)');
    }
    expect(colours.size).toBe(4);
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
  expect(await page.locator('.verdict').textContent()).toBe('Gone');
  known = true;
  await page.reload();
  expect(await page.locator('.verdict').textContent()).toBe('Gone');
  await page.getByRole('link', { name: 'Try again' }).click();
  await page.getByText('Works', { exact: true }).waitFor();
  expect(await page.getByLabel('Short URL').inputValue()).toBe(`new.example:${port}/a?b=c&d`);
});

describe('each hop', () => {
  test('says only what the others do not', () =>
    visits.visit({}, async (page) => {
      const read = async (u: string) => {
        await page.goto(visits.address(u));
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
        return (await page.locator('ol').allInnerTexts()).join();
      };
      expect(await read('s.example/title')).not.toMatch(/encrypted|IPv/);
      expect(await page.getByText('Every request: not encrypted, IPv4.').isVisible()).toBe(true);
      const differing = await read('s.example/wide');
      expect(differing).toMatch(/307, moved temporarily, IPv6\.[\s\S]*200, OK, IPv4\./);
      expect(await page.getByText('Every request: not encrypted.').isVisible()).toBe(true);
    }));

  test.each([1280, 390, 360])('has no separator at the beginning or end of a line: %i pixels', (width) =>
    visits.visit({ viewport: { width, height: 800 } }, async (page) => {
      for (const path of ['title', 'wide', 'dead']) {
        await page.goto(visits.address(`s.example/${path}`));
        const astray = await page.evaluate(`(() => {
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const boxes = [];
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.parentElement.closest('script, style')) continue;
            for (let at = 0; at < node.length; at += 1) {
              if (/\\s/.test(node.data[at])) continue;
              const range = new Range();
              range.setStart(node, at);
              range.setEnd(node, at + 1);
              const { top, bottom, width } = range.getBoundingClientRect();
              if (width > 0) boxes.push({ character: node.data[at], middle: (top + bottom) / 2 });
            }
          }
          const astray = ({ character, middle }, at) => character === '·' &&
            [boxes[at - 1], boxes[at + 1]].some((near) => !near || Math.abs(near.middle - middle) > 8);
          return { found: boxes.filter(({ character }) => character === '·').length, astray: boxes.filter(astray).length };
        })()`);
        expect(astray).toEqual({ found: expect.any(Number), astray: 0 });
        expect((astray as { found: number }).found).toBeGreaterThan(1);
      }
    }),
  );
});

test('a URL that is cut ends in a fade, until its end is reached', () =>
  visits.visit({}, async (page) => {
    await page.goto(visits.address('s.example/wide'));
    const mask = async () =>
      page.evaluate("getComputedStyle(document.querySelector('.destination data')).maskImage");
    await expect.poll(mask).toContain('linear-gradient');
    await page.evaluate("document.querySelector('.destination data').scrollTo(0, 10_000)");
    await expect.poll(mask).toBe('none');
    await page.goto(visits.address('s.example/title'));
    expect(await mask()).toBe('none');
  }));
