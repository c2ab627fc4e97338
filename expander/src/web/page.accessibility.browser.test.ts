import { join } from 'node:path';
import { accessibilityFaults, loadAxe } from '@longhand/shared/testing/accessibility.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { web } from '../../testing/links.ts';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';
import { ExpansionError } from '../expansion/errors.ts';

const pictures = join(import.meta.dirname, '../../testing/pictures');
const tracked = `https://www.example.com/journal/2026/on-writing-things-out?id=17&utm_source=newsletter&fbclid=IwAR0a`;
const endless = `http://${'long-name-'.repeat(6)}x.example/${'x'.repeat(2_000)}?${'y'.repeat(2_000)}`;
const app = scriptedApp({
  'http://sho.rt/two': to('https://links.example/r/8f3a'),
  'https://links.example/r/8f3a': to('https://www.example.com/journal', 302),
  'https://www.example.com/journal': {},
  'https://sho.rt/down': to('https://track.example/c?u=1', 307),
  'https://track.example/c?u=1': { ...to('http://mail.example/open'), method: 'GET' },
  'http://mail.example/open': to(tracked, 302),
  [tracked]: {},
  'http://sho.rt/title': to('http://xn--pple-43d.example/', 302),
  'http://xn--pple-43d.example/': { title: 'اشتر خبزا', bytesRead: 9 },
  'http://sho.rt/loop': to('http://sho.rt/round'),
  'http://sho.rt/round': to('http://sho.rt/loop', 302),
  'http://sho.rt/long': to(endless),
  [endless]: {},
  'http://often.example/': new ExpansionError('rate_limited', 'Too many expansions.', {
    rate: { count: 60, period: 60, wait: 12 },
  }),
  'https://self.example/': web['https://self.example/'] ?? {},
});

/** Together, these pages contain every kind of verdict, note, button, list and field. */
const states = {
  empty: '',
  'downgrade-and-tracking': 'https://sho.rt/down',
  loop: 'http://sho.rt/loop',
  long: 'http://sho.rt/long',
  'beware-and-title': 'sho.rt/title',
  pasted: 'Look at <sho.rt/two>, please.',
  often: 'http://often.example/',
  certificate: 'https://self.example/',
  links: 'See http://sho.rt/two and [this](http://sho.rt/long).',
  mistyped: `http://${'long'.repeat(100)}:x`,
};

const visits = await startVisits(app);
afterAll(() => visits.close());

describe('the page passes axe and does not overflow at 320 pixels', () => {
  let page: Page;
  beforeAll(async () => {
    page = await visits.openPage();
    await loadAxe(page);
  });

  test.each(Object.entries(states))('%s', async (name, u) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(visits.address(u));
    const [width, links] = (await page.evaluate(`[
      document.documentElement.scrollWidth,
      [...document.querySelectorAll('.actions a')].map((link) => link.clientHeight),
    ]`)) as [number, number[]];
    expect(width).toBe(320);
    expect(Math.max(0, ...links)).toBeLessThan(50);
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    expect(await accessibilityFaults(page, name, pictures)).toEqual([]);
  });
});

visits.test('screen readers read the result before the chain', {}, async (page) => {
  await page.goto(visits.address('sho.rt/two'));
  await page.getByText('How we got there').click();
  const read = await page.locator('body').ariaSnapshot();
  const order = [
    'heading "Where',
    'textbox "Link, or the whole message"',
    'heading "It leads',
    'How we got there',
    'list:',
  ];
  const places = order.map((words) => read.indexOf(words));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});

visits.test('every control is reachable by keyboard and shows its focus', {}, async (page) => {
  await page.goto(visits.address(''));
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('sho.rt/two');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'It leads to' }).waitFor();
  const stops: string[] = [];
  for (let stop = 0; stop < 5; stop += 1) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(`({
      name: document.activeElement.textContent.trim() || document.activeElement.name,
      outline: getComputedStyle(document.activeElement).outlineStyle,
    })`);
    expect(focus).toMatchObject({ outline: 'solid' });
    stops.push((focus as { name: string }).name);
  }
  expect(stops).toEqual(['Where does it lead?', 'u', 'Expand', 'Copy the long URL', 'Open it']);
});

visits.test('a printed page shows every hop in detail, but no buttons', {}, async (page) => {
  await page.emulateMedia({ media: 'print' });
  await page.goto(visits.address('sho.rt/two'));
  expect(await page.getByRole('heading', { name: 'It leads to' }).isVisible()).toBe(true);
  expect((await page.getByText('301, moved permanently').boundingBox())?.height).toBeGreaterThan(10);
  expect(await page.locator('button:visible').count()).toBe(0);
  await page.emulateMedia({ media: null });
});
