import { join } from 'node:path';
import { connected } from '@longhand/shared/redis.ts';
import { sharedChromium } from '@longhand/shared/testing/chromium.ts';
import { forget } from '@longhand/shared/testing/forget.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import type { Dependencies } from '../src/web/dependencies.ts';
import { startReplica } from './replica.ts';
import { startStore } from './store.ts';

/** Milliseconds to wait for a condition, even on a busy machine. */
const patience = 60_000;

type Site = Awaited<ReturnType<typeof startSite>>;

/** Starts a replica, Chromium, and a Redis server that is empty for each test. @param given replaces the replica's dependencies */
export function useBrowser(given: Partial<Dependencies> = {}): Site {
  const site = {} as Site;
  vi.setConfig({ testTimeout: 3 * patience });
  beforeAll(async () => {
    Object.assign(site, await startSite(given));
  });
  afterEach(async ({ task }) => {
    await site.leave(task.result?.state === 'fail');
    await site.empty();
  });
  afterAll(() => site.stop());
  return site;
}

async function startSite(given: Partial<Dependencies>) {
  const { server, redis, store, empty, stop } = await startStore();
  const service = await startReplica(server.url, given);
  const browser = await sharedChromium();
  const newPage = async (options?: BrowserContextOptions) => {
    // Playwright cannot intercept requests that a service worker sends.
    const context = await browser.newContext({
      baseURL: service.url,
      serviceWorkers: 'block',
      ...options,
    });
    context.setDefaultTimeout(patience);
    return context.newPage();
  };
  const ofTest: Page[] = [];
  const ofFile: Page[] = [];
  const lent = new Map<Page, string>();
  const spares = new Map<Page, string>();
  const close = (pages: Page[]) => Promise.all(pages.map((page) => page.context().close()));

  return {
    url: service.url,
    log: service.log,
    redisUrl: server.url,
    store,
    empty,
    /** Runs `act` while the store is down, then restarts it and waits for the service to reconnect. */
    async withoutStore(act: () => Promise<void>) {
      await server.kill();
      try {
        await act();
      } finally {
        await server.start();
        await connected(redis, 5_000);
        await poll(async () => (await fetch(service.url)).status).toBe(200);
      }
    },
    /** Runs `act` while the store hangs. The store then executes the pending commands. */
    async whileStoreHangs(act: () => Promise<void>) {
      await server.pause();
      try {
        await act();
      } finally {
        await server.resume();
      }
    },
    /** Adds open tasks and returns their IDs. The last task comes first in the list. */
    async add(...titles: string[]): Promise<string[]> {
      const ids = [];
      for (const title of titles) ids.push((await store.create({ title }, new Date())).task._id);
      return ids;
    },
    /**
     * Opens `path` without cookies or drafts. May reuse an earlier test's page with the same options, because each new page
     * starts a process. `forget` clears pages between tests.
     */
    async open(path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const kind = JSON.stringify(options);
      const spare = [...spares.keys()].find((page) => spares.get(page) === kind);
      const page = spare ?? (await newPage(options));
      spares.delete(page);
      lent.set(page, kind);
      await show(page, path);
      return page;
    },
    /** Like `open`, but never reuses a page. For tests whose state `forget` cannot clear. */
    async openNew(path: string, options?: BrowserContextOptions): Promise<Page> {
      const page = await newPage(options);
      ofTest.push(page);
      await show(page, path);
      return page;
    },
    /** Like `openNew`, but the page's clock stands still until the test moves it: the list is not at rest before that. */
    async openStill(path: string, options?: BrowserContextOptions): Promise<Page> {
      const page = await newPage(options);
      ofTest.push(page);
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1_000);
      await show(page, path);
      return page;
    },
    /** Creates a page that all tests of a file share. Tests with a shared page are four times as fast. */
    async pageForAll(options?: BrowserContextOptions): Promise<Page> {
      const page = await newPage(options);
      ofFile.push(page);
      return page;
    },
    /** Clears the pages for the next test. Closes the pages if the test failed, because they may be unusable. */
    async leave(failed: boolean) {
      await close(ofTest.splice(0));
      const pages = [...lent];
      lent.clear();
      if (failed) return void (await close(pages.map(([page]) => page)));
      const clear = async ([page, kind]: [Page, string]) => {
        await forget(page);
        const { javaScriptEnabled = true }: BrowserContextOptions = JSON.parse(kind);
        // Without scripts, nothing waits, and the storage does not answer.
        if (javaScriptEnabled) await forgetWaiting(page);
      };
      await Promise.all(pages.map(clear));
      for (const [page, kind] of pages) spares.set(page, kind);
    },
    async stop() {
      await close([...ofFile, ...spares.keys()]);
      await service.stop();
      await stop();
    },
  };
}

/** The titles of what waits on the device. */
export const waiting = async (page: Page): Promise<string[]> =>
  (await operations(page)).filter(({ isRemoved }) => !isRemoved).map(({ title }) => title);

interface Operation {
  title: string;
  at: number;
  isRemoved?: boolean;
}

/** The changes that the device keeps. */
export const operations = async (page: Page) => (await keptOn<Operation[]>(page, 'all')) ?? [];

/** The texts in fields that the device keeps. */
export const drafts = async (page: Page) =>
  Object.values((await keptOn<Record<string, { title: string }>>(page, 'drafts')) ?? {}).map(
    ({ title }) => title,
  );

/** What the device keeps under a key. */
const keptOn = <T>(page: Page, key: 'all' | 'drafts'): Promise<T | undefined> =>
  page.evaluate(`new Promise((resolve) => {
    const opening = indexedDB.open('waiting');
    opening.onsuccess = () => {
      const reading = opening.result.transaction('operations').objectStore('operations').get('${key}');
      reading.onsuccess = () => {
        opening.result.close();
        resolve(reading.result);
      };
    };
  })`);

/** Deletes what waits on the device of `page`. */
const forgetWaiting = (page: Page) =>
  page.evaluate(`new Promise((resolve) => {
    const opening = indexedDB.open('waiting');
    opening.onupgradeneeded = () => opening.result.createObjectStore('operations');
    opening.onsuccess = () => {
      const deleting = opening.result.transaction('operations', 'readwrite').objectStore('operations').clear();
      deleting.onsuccess = () => resolve(opening.result.close());
    };
  })`);

/** Whether the autofocus field, if any, has the focus. The browser moves the focus shortly after the page loads. */
const hasAutofocus = `
  !document.querySelector('[autofocus]') || document.activeElement.matches('[autofocus]')`;

/** Opens `path` and waits until the autofocus field has the focus. */
async function show(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await poll(() => page.evaluate(hasAutofocus)).toBe(true);
}

/** The folder with the golden pictures. */
export const pictures = join(import.meta.dirname, 'pictures');

/** Waits until `look` returns the expected value. */
export const poll = <T>(look: () => T) => expect.poll(look, { timeout: patience });

export const field = (page: Page) => page.getByLabel('What needs to be done?');

export const notice = (page: Page) => page.locator('#notice').textContent();

/** The visible titles in order, with parentheses around struck-through titles. Without tasks that others have deleted. */
export function titles(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const rows = [...document.querySelectorAll('.tasks > li:not([inert])')].filter((row) => row.checkVisibility());
    const shown = rows.flatMap((row) => row.querySelector('.title:not(.editing > *)') ?? []);
    const done = (title) => getComputedStyle(title).textDecorationLine === 'line-through';
    return [
      ...shown.filter((title) => !done(title)).map(({ textContent }) => textContent),
      ...shown.filter(done).map(({ textContent }) => '(' + textContent + ')'),
    ];
  })()`);
}

/** Waits until others have changed `count` tasks, and shows these changes. */
export async function showChanges(page: Page, count: number): Promise<void> {
  const changes = page.locator('.changes', { hasText: count === 1 ? '1 change.' : `${count} changes.` });
  await changes.getByRole('button', { name: 'Show' }).click();
}

/** Lets the page's clock run until the list is at rest. The page needs a clock that is paused. */
export const rest = (page: Page) => page.clock.runFor(4_000);

/** Returns the ID or the text of the focused element. */
export function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.id || document.activeElement.textContent');
}

/** Types each text at the cursor and presses Enter. */
export async function enter(page: Page, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }
}

/** Opens the edit form of task `id` in the list, and appends `more` to the title. */
export async function edit(page: Page, id: number, more: string): Promise<void> {
  await page.locator(`#task-${id}`).getByLabel('Edit:').click();
  await poll(() => focused(page)).toBe(`title-${id}`);
  await page.keyboard.type(more);
}

/** The titles in the store, in list order. */
export const stored = async ({ store }: Site): Promise<string[]> =>
  (await store.list({ filter: 'all' })).tasks.map(({ title }) => title);

/** Waits until the list of a page that has just appeared takes taps. */
export const appeared = (page: Page) =>
  page.evaluate<void>(
    "Promise.all(document.getElementById('list').getAnimations().map(({ finished }) => finished)).then(() => {})",
  );

/** Sets the speed of animations. At 0, a part that ignores taps ignores them indefinitely. */
export async function animate(page: Page, playbackRate: 0 | 1): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Animation.enable');
  await session.send('Animation.setPlaybackRate', { playbackRate });
}

/** Drops the next response from `path`. */
export const loseResponse = (page: Page, path: string) =>
  page.route(path, (route) => route.fetch({ maxRedirects: 0 }).then(() => route.abort()), { times: 1 });

/** Pastes `text` into a field, by default the field above the list. */
export const paste = (page: Page, text: string, id = 'title') =>
  page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.getElementById('${id}').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`);
