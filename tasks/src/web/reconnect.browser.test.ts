import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { poll, titles, useBrowser } from '../../testing/browser.ts';

const site = useBrowser();

const events = '**/tasks/events';

/** Opens the list with a clock that a test can move on; tells how often it has asked for events. */
async function openList(prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const page = await site.open('/tasks/new', {});
  let connections = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/tasks/events')) connections += 1;
  });
  await page.clock.install();
  await prepare(page);
  await page.goto('/');
  await poll(() => connections).toBe(1);
  return { page, connections: () => connections };
}

/** Adds a task from elsewhere, which the page hears of. */
async function hear(page: Page, title: string) {
  const before = await titles(page);
  await site.add(title);
  await poll(() => titles(page)).toEqual([title, ...before]);
}

describe('The connection by which a page hears of changes', () => {
  test('is opened anew where 20 s bring no first word', async () => {
    const { page, connections } = await openList((opened) => opened.route(events, () => {}, { times: 1 }));
    await page.clock.fastForward(10_000);
    expect(connections()).toBe(1);
    await page.clock.fastForward(10_000);
    await poll(connections).toBe(2);
    await hear(page, 'milk');
  });

  test('is opened anew 20 s after the last word, and stays while there are words', async () => {
    const { page, connections } = await openList();
    await hear(page, 'milk');
    await page.clock.fastForward(12_000);
    await hear(page, 'bread');
    await page.clock.fastForward(12_000);
    await hear(page, 'tea');
    expect(connections()).toBe(1);
    await poll(async () => {
      // The version, which comes every 5 s, may come in between.
      await page.clock.fastForward(20_000);
      return connections();
    }).toBeGreaterThan(1);
    await hear(page, 'honey');
  });

  test('is opened anew as soon as the network is back', async () => {
    const { page, connections } = await openList();
    await hear(page, 'milk');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await poll(connections).toBe(2);
    await hear(page, 'bread');
  });

  test('is let go when the page is left, and opened anew when Back brings the page back', async () => {
    const { page, connections } = await openList();
    await hear(page, 'milk');
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/tasks/events'));
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
    await closed;
    await site.add('bread');
    expect(await titles(page)).toEqual(['milk']);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    expect(connections()).toBe(2);
  });
});
