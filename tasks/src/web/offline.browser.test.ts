import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killBrowser, openProfile } from '@longhand/shared/testing/chromium.ts';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  drafts,
  edit,
  enter,
  field,
  focused,
  notice,
  poll,
  stored,
  titles,
  useBrowser,
  waiting,
} from '../../testing/browser.ts';
import { startRelay } from '../../testing/relay.ts';
import { startReplica } from '../../testing/replica.ts';
import { publicFiles } from './static-files.ts';
import { views } from './views.ts';

const site = useBrowser();
let relay: Awaited<ReturnType<typeof startRelay>>;
beforeAll(async () => {
  relay = await startRelay(site.url);
});
afterEach(() => {
  relay.restore();
  relay.answers.clear();
});
afterAll(() => relay.stop());

const connection = (page: Page) => page.locator('#connection').textContent();

/** The paths of the pages and files that the device keeps. */
const kept = (page: Page): Promise<string[]> =>
  page.evaluate(`(async () => {
    const paths = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
    return paths;
  })()`);

/** The HTML of the list that the device keeps. */
const keptPage = (page: Page): Promise<string> =>
  page.evaluate("caches.match('/').then((kept) => kept.text())");

/** Opens the list on a new device, and waits until the device keeps it. */
async function open() {
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  await page.goto(relay.url);
  await poll(() => kept(page)).toContain('/');
  return page;
}

/** Opens the list in another page of the same device. */
async function openOther(page: Page) {
  const other = await page.context().newPage();
  await other.goto(relay.url);
  return other;
}

/** Types lines into the field, each followed by Enter. */
async function typeLines(page: Page, ...lines: string[]) {
  await field(page).focus();
  await enter(page, ...lines);
}

/** Opens the list in a browser that can be killed, and started again. */
async function openKept() {
  const folder = await mkdtemp(join(tmpdir(), 'profile-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const first = await openProfile(folder);
  const page = await first.newPage();
  await page.goto(relay.url);
  await poll(() => kept(page)).toContain('/');
  const restart = async () => {
    await killBrowser(first);
    const second = await openProfile(folder);
    onTestFinished(() => second.close());
    const again = await second.newPage();
    await again.goto(relay.url);
    return again;
  };
  return { page, restart };
}

/** Types like the keyboard of a phone, which may still change the word that it composes. */
async function composer(page: Page) {
  const session = await page.context().newCDPSession(page);
  return {
    compose: (text: string) =>
      session.send('Input.imeSetComposition', {
        text,
        selectionStart: text.length,
        selectionEnd: text.length,
      }),
    commit: (text: string) => session.send('Input.insertText', { text }),
  };
}

/** Hides the page, so that it asks to keep the list. */
const hide = (page: Page) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

/** Lets the browser tell 300 ms late that it has stored something. */
const slowStorage = `Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
  set(listener) {
    this.addEventListener('complete', () => setTimeout(listener, 300));
  },
})`;

const finish = (page: Page, title: string) => page.getByLabel(`Finish: ${title}`).click();

/** Finishes tasks, one after the other, and waits until the server has confirmed each. */
async function finishAndWait(page: Page, ...names: string[]) {
  for (const name of names) {
    await finish(page, name);
    await poll(() => notice(page)).toContain(`Finished: ${name}`);
  }
}

/** Reopens the app, as after a crash. */
const reopen = async (page: Page) => {
  const again = await page.context().newPage();
  await page.close();
  await again.goto(relay.url);
  return again;
};

/** Loses the connection, and waits until the page knows. */
async function loseConnection(page: Page) {
  relay.lose();
  await poll(() => connection(page)).toContain('no connection');
}

/** Loses the connection after the server's next answer to `path`, but before the page gets it. */
const loseConnectionAt = (page: Page, path: string) =>
  page.route(
    path,
    async (route) => {
      await route.fetch({ maxRedirects: 0 });
      relay.lose();
      await route.abort();
    },
    { times: 1 },
  );

/** Opens the list, loses the connection, and adds lines, which then wait. */
async function openWithWaiting(...lines: string[]) {
  const page = await open();
  await loseConnection(page);
  await typeLines(page, ...lines);
  await poll(() => waiting(page)).toEqual(lines);
  return page;
}

/** Opens the list, and adds a line whose answer is lost with the connection. The server has the task, and the line waits. */
async function openWithUnanswered(line: string) {
  const page = await open();
  await loseConnectionAt(page, '**/task');
  await typeLines(page, line);
  await poll(() => connection(page)).toContain('1 new task waits on this device.');
  expect(await stored(site)).toEqual([line]);
  return page;
}

/** Goes back from the browser's own page for a request that has failed. */
async function leaveErrorPage(page: Page) {
  await poll(async () => page.url()).toContain('chrome-error:');
  await page.goBack();
}

async function restore() {
  relay.restore();
}

/** Saves a title without a connection. */
async function loseEdit(page: Page) {
  await edit(page, 2, 'milk');
  await loseConnection(page);
  await page.keyboard.press('Enter');
  await page.locator('.editing .problem').waitFor();
}

/** Adds what is in the field without a connection. */
async function addWithout(page: Page) {
  await loseConnection(page);
  await field(page).press('Enter');
}

/** Ticks without a connection. */
async function tickWithout(page: Page) {
  await loseConnection(page);
  await page.locator('#task-2 .toggle').click();
  await page.locator('#task-2[data-waits]').waitFor();
}

describe('Without a connection', () => {
  test.each(['down', 'hung'] as const)(
    'the list opens as it was last seen, with its time (%s)',
    async (how) => {
      await site.add('milk', 'bread');
      const page = await open();
      relay.lose(how);
      await page.reload();
      await poll(() => titles(page)).toEqual(['bread', 'milk']);
      expect(await connection(page)).toMatch(/^As of \d{1,2}:\d\d.*, no connection\.$/);
      expect(await page.evaluate("getComputedStyle(document.querySelector('main')).display")).toBe('flex');
      relay.restore();
      await poll(() => connection(page)).toBe('');
    },
  );

  test('a page that opens beside one that has lost the connection has none, either', async () => {
    await site.add('milk');
    const page = await open();
    // The first page has heard a version.
    await site.add('bread');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(() => keptPage(page)).toContain('bread');
    await loseConnection(page);
    relay.asked.splice(0);
    const other = await openOther(page);
    // Meanwhile, the first page could pass on the version.
    await other.waitForTimeout(500);
    await finish(other, 'milk');
    await other.locator('#task-1[data-waits]').waitFor();
    expect(relay.asked).not.toContain('GET /task/1/finish');
    expect(await connection(other)).toMatch(/^As of .*, no connection\. 1 tick waits on this device\.$/);
  });

  test('the list opens with what others have added while the page was open', async () => {
    await site.add('milk');
    const page = await open();
    await site.add('bread');
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    await poll(() => keptPage(page)).toContain('bread');
    relay.lose('down');
    expect(await titles(await reopen(page))).toEqual(['bread', 'milk']);
  });

  test('a change is kept at once, because the connection may be gone the next moment', async () => {
    await site.add('milk');
    const page = await open();
    await page.evaluate('window.setTimeout = () => 0');
    await finish(page, 'milk');
    await poll(() => keptPage(page)).toContain('class="finished"');
  });

  test('a list that could not be kept is kept as soon as the page asks again', async () => {
    await site.add('milk');
    const page = await open();
    relay.asked.splice(0);
    relay.answers.set('/', { status: 503 });
    await site.add('bread');
    await poll(() => relay.asked).toContain('GET /');
    relay.answers.clear();
    await poll(async () => {
      await hide(page);
      return keptPage(page);
    }).toContain('bread');
  });

  test('several pages ask for a list that they show only once', async () => {
    await site.add('milk');
    const page = await open();
    const other = await openOther(page);
    for (const each of [page, other])
      await each.evaluate(`{
        const { postMessage } = ServiceWorker.prototype;
        ServiceWorker.prototype.postMessage = function (message) {
          window.hasAsked = true;
          postMessage.call(this, message);
        };
      }`);
    relay.asked.splice(0);
    await site.add('bread');
    for (const each of [page, other]) await poll(() => each.evaluate('window.hasAsked')).toBe(true);
    await poll(() => keptPage(page)).toContain('bread');
    expect(relay.asked.filter((line) => line === 'GET /')).toEqual(['GET /']);
  });

  test('a late response does not replace a newer list', async () => {
    await site.add('milk');
    const page = await open();
    const worker = page.context().serviceWorkers()[0];
    await worker?.evaluate(`{
      const { text } = Response.prototype;
      self.isRead = false;
      Response.prototype.text = async function () {
        const read = await text.call(this);
        if (!read.includes('bread')) self.isRead = true;
        return read;
      };
    }`);
    const late = Promise.withResolvers<void>();
    relay.held.set('/', late.promise);
    relay.asked.splice(0);
    const ask = (version: string) =>
      page.evaluate(`navigator.serviceWorker.controller.postMessage('${version}')`);
    await ask('older');
    // The service has answered.
    await poll(() => relay.forwarded.at(-1)).toMatchObject({ path: '/', status: 200 });
    relay.held.clear();
    await site.add('bread');
    await poll(() => keptPage(page)).toContain('bread');
    late.resolve();
    await poll(() => worker?.evaluate('self.isRead')).toBe(true);
    for (let i = 0; i < 5; i += 1) expect(await keptPage(page)).toContain('bread');
  });

  test('a connection that is lost without a word is told after 20 s', async () => {
    const page = await open();
    await page.clock.install();
    await poll(() => connection(page)).toBe('');
    await page.reload();
    relay.lose('silent');
    await page.clock.fastForward(20_000);
    await poll(() => connection(page)).toMatch(/^As of .*, no connection\.$/);
    relay.restore();
    await page.clock.fastForward(20_000);
    await poll(() => connection(page)).toBe('');
  });

  test('what gets no answer waits as soon as the page knows that there is no connection', async () => {
    await site.add('bread');
    const page = await open();
    await page.clock.install();
    await page.reload();
    await page.clock.pauseAt(Date.now() + 60_000);
    relay.lose('silent');
    relay.asked.splice(0);
    await finish(page, 'bread');
    await typeLines(page, 'milk');
    await page.clock.runFor(5_000);
    await poll(() => relay.asked).toContain('HEAD /public/worker.js');
    // The request itself would end after 15 s.
    await page.clock.runFor(5_000);
    await poll(() => connection(page)).toContain('1 tick and 1 new task wait on this device.');
    expect(await field(page).inputValue()).toBe('milk\n');
    expect(await page.locator('#task-1').getAttribute('data-waits')).toBe('finished');
  });

  test('a list that was opened without a connection can be changed later, although the phone has forgotten its session', async () => {
    await site.add('bread');
    const page = await open();
    relay.lose();
    await page.context().clearCookies();
    const again = await reopen(page);
    await poll(() => connection(again)).toContain('no connection');
    relay.restore();
    await poll(() => connection(again)).toBe('');
    await typeLines(again, 'milk');
    await poll(() => stored(site)).toEqual(['milk', 'bread']);
    await again.context().clearCookies();
    await again.getByRole('button', { name: 'Delete: bread' }).click();
    await poll(() => stored(site)).toEqual(['milk']);
  });

  test('a filter or a search leads to the whole list, and says so', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    relay.lose();
    await page.goto(`${relay.url}?filter=finished`);
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
    expect(await connection(page)).toMatch(/no connection\. This is the whole list\.$/);
    expect(page.url()).toBe(relay.url);
    relay.restore();
    await poll(() => connection(page)).toBe('');
    await typeLines(page, 'tea');
    await poll(() => notice(page)).toContain('Added: tea');
    expect(await notice(page)).not.toContain('Show');
    expect(await titles(page)).toEqual(['tea', 'bread', 'milk']);
  });

  test('a list on several pages does not say that its first page is the whole list', async () => {
    for (let i = 0; i <= 100; i += 1) await site.add(`milk ${i}`);
    const page = await open();
    relay.lose();
    await page.getByRole('link', { name: 'Next' }).click();
    await poll(() => titles(page).then(([first]) => first)).toBe('milk 100');
    expect(await connection(page)).toMatch(/no connection\. This is the first page of the whole list\.$/);
  });

  test('a link to another page leads to the list, which says that there is no connection', async () => {
    await site.add('milk');
    const page = await open();
    relay.lose();
    for (const name of ['Import', 'Recently deleted']) {
      await page.getByRole('link', { name }).click();
      await page.waitForURL(relay.url);
      expect(await titles(page)).toEqual(['milk']);
      expect(await connection(page)).toMatch(/no connection\.$/);
    }
    relay.restore();
    await poll(() => connection(page)).toBe('');
    await page.getByRole('link', { name: 'Import' }).click();
    await page.locator('h1', { hasText: 'Import' }).waitFor();
  });

  test('the links to other pages and to exports say that they need a connection', async () => {
    const page = await open();
    await loseConnection(page);
    for (const name of ['Import', 'text', 'JSON', 'Recently deleted']) {
      await page.getByRole('link', { name }).click();
      await poll(() => notice(page)).toBe('This needs a connection. Close');
      await page.getByRole('button', { name: 'Close' }).click();
    }
    relay.restore();
    // The page may not know yet.
    await page.getByRole('link', { name: 'Import' }).click();
    await page.locator('h1', { hasText: 'Import' }).waitFor();
  });

  test('a redirect of another address than the login keeps the list', async () => {
    const page = await open();
    relay.answers.set('/?q=milk', { status: 302, headers: { Location: '/tasks/import' } });
    await page.goto(`${relay.url}?q=milk`);
    await page.locator('h1', { hasText: 'Import' }).waitFor();
    expect(await kept(page)).toContain('/');
  });

  test('a task whose title looks like a file does not keep the list from being kept', async () => {
    await site.add('src="/public/0123456789ab/x.js"', '/public/0123456789ab/y.js');
    const page = await open();
    expect(await page.evaluate('caches.keys()')).not.toEqual(['0123456789ab']);
  });

  test('only the list and its files are kept', async () => {
    const page = await open();
    for (const path of ['/tasks/import', '/?filter=open', '/tasks/removals'])
      await page.goto(relay.url + path.slice(1));
    const others = (await kept(page)).filter((path) => !/^\/(public\/[\da-f]{12}\/[\w.-]+)?$/.test(path));
    expect(others).toEqual([]);
  });

  test('the server is asked once for each page, while the worker starts', async () => {
    const preloads: string[] = [];
    const watched = await startRelay(site.url, ({ url, headers }) => {
      if (headers['service-worker-navigation-preload'] === 'true') preloads.push(`GET ${url}`);
      return {};
    });
    onTestFinished(() => watched.stop());
    const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
    await page.goto(watched.url);
    await poll(() => kept(page)).toContain('/');
    watched.asked.length = 0;
    for (const path of ['', '?filter=open', 'tasks/import']) await page.goto(watched.url + path);
    const pages = watched.asked.filter((line) => !/public|events/.test(line));
    expect(pages).toEqual(['GET /', 'GET /?filter=open', 'GET /tasks/import']);
    expect(preloads).toEqual(pages);
  });

  test("the worker loads the kept list's files, but not those of the server's pages", async () => {
    await site.add('milk');
    const page = await open();
    const folders = async () => {
      const names: string[] = await page.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => name)",
      );
      return new Set(names.flatMap((name) => /(\w+)\/[\da-f]{12}\/list\.js$/.exec(name)?.[1] ?? []));
    };
    await page.reload();
    expect(await folders()).toEqual(new Set(['public']));
    const session = await page.context().newCDPSession(page);
    await session.send('Network.clearBrowserCache');
    relay.lose();
    await page.reload();
    expect(await folders()).toEqual(new Set(['kept']));
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
  });

  test('a tick waits, survives a crash, and is sent once there is a connection', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    relay.lose();
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    expect(await titles(page)).toEqual(['bread', '(milk)']);
    const again = await reopen(page);
    await poll(() => titles(again)).toEqual(['bread', '(milk)']);
    expect(await again.locator('[data-waits] .title').textContent()).toBe('milk');
    // The label says what a tap does.
    await again.getByLabel('Reopen: milk').press('Enter');
    await poll(() => titles(again)).toEqual(['bread', 'milk']);
    await again.getByLabel('Finish: milk').press('Enter');
    await poll(() => titles(again)).toEqual(['bread', '(milk)']);
    expect(await again.getByTitle('Reopen').count()).toBe(1);
    expect((await site.store.list({ filter: 'open' })).open).toBe(2);
    relay.restore();
    await poll(() => notice(again)).toContain('Sent.');
    await poll(() => connection(again)).toBe('');
    expect((await site.store.list({ filter: 'open' })).tasks).toMatchObject([{ title: 'bread' }]);
    await poll(() => again.locator('[data-waits]').count()).toBe(0);
    expect(await waiting(again)).toEqual([]);
  });

  test('a tick that is taken back before it was sent does not undo what somebody else has done', async () => {
    const [milk = ''] = await site.add('milk', 'bread');
    const page = await open();
    relay.lose();
    for (const title of ['milk', 'bread']) await finish(page, title);
    await poll(() => connection(page)).toContain('2 ticks wait on this device.');
    await page.getByLabel('Reopen: milk').press('Enter');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    expect(await waiting(page)).toEqual(['bread']);
    expect(await titles(page)).toEqual(['milk', '(bread)']);
    expect(await page.locator('[data-waits] .title').textContent()).toBe('bread');
    await site.store.update(milk, { finished: 1 }, new Date());
    relay.restore();
    await poll(() => notice(page)).toContain('Sent.');
    await poll(() => titles(page)).toEqual(['(bread)', '(milk)']);
    expect((await site.store.list({ filter: 'finished' })).finished).toBe(2);
  });

  test('a tick that may have been made is not taken back without asking the server', async () => {
    await site.add('milk');
    const page = await open();
    await loseConnectionAt(page, '**/task/1/finish*');
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    // Reopened, finished and reopened.
    for (const verb of ['Reopen', 'Finish', 'Reopen']) {
      await page.getByLabel(`${verb}: milk`).click();
      await page.getByLabel(`${verb === 'Reopen' ? 'Finish' : 'Reopen'}: milk`).waitFor();
    }
    expect((await site.store.list({ filter: 'all' })).finished).toBe(1);
    relay.restore();
    await poll(async () => (await site.store.list({ filter: 'all' })).finished).toBe(0);
  });

  test('Undo of a tick survives a crash before it was sent, and waits like a tick', async () => {
    await site.add('milk');
    let page = await open();
    for (const how of ['silent', 'down'] as const) {
      await finish(page, 'milk');
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      relay.lose(how);
      if (how === 'down') await poll(() => connection(page)).toContain('no connection');
      await page.getByRole('button', { name: 'Undo' }).click();
      await poll(() => waiting(page)).toEqual(['milk']);
      if (how === 'down') await poll(() => connection(page)).toContain('1 tick waits on this device.');
      if (how === 'down') expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
      page = await reopen(page);
      relay.restore();
      await poll(() => site.store.list({ filter: 'all' })).toMatchObject({ open: 1, finished: 0 });
      await poll(() => waiting(page)).toEqual([]);
      await poll(() => titles(page)).toEqual(['milk']);
    }
  });

  /** Deletes tea, whose request the server does not answer yet. Finishes milk without a connection, and connects again. */
  async function openWithHeldRequest() {
    await site.add('milk', 'bread', 'tea');
    // Otherwise an event could tell that there is a connection.
    relay.answers.set('/tasks/events', { status: 503 });
    const page = await open();
    const happens = (type: string) => page.evaluate(`dispatchEvent(new Event('${type}'))`);
    const held = Promise.withResolvers<void>();
    relay.held.set('/tasks/3', held.promise);
    onTestFinished(() => relay.held.clear());
    await page.getByLabel('Delete: tea').click();
    await happens('connectionlost');
    await finish(page, 'milk');
    await poll(() => page.locator('#task-1[data-waits]').count()).toBe(1);
    await happens('connected');
    return { page, happens, answer: held.resolve };
  }

  test('a tick that still waits for its turn never overtakes a later tick of the same task', async () => {
    const { page, happens, answer } = await openWithHeldRequest();
    await finish(page, 'bread');
    await happens('connectionlost');
    await page.locator('#task-2 .toggle').click();
    await poll(() => page.locator('#task-2[data-waits]').count()).toBe(1);
    answer();
    await poll(() => site.store.list({ filter: 'finished' })).toMatchObject({ tasks: [{ title: 'milk' }] });
    await poll(() => page.locator('.busy, [data-waits]').count()).toBe(0);
    expect(await titles(page)).toEqual(['bread', '(milk)']);
    expect(await stored(site)).toEqual(['bread', 'milk']);
    expect((await site.store.list({ filter: 'open' })).tasks).toMatchObject([{ title: 'bread' }]);
  });

  test('lines that wait for their turn and are sent earlier are not in the draft, which a reload shows', async () => {
    const { page, answer } = await openWithHeldRequest();
    relay.held.set('/task', new Promise(() => {}));
    await field(page).fill('rice\nhoney');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => waiting(page)).toEqual(['milk', 'rice', 'honey']);
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 30_000; }');
    answer();
    await poll(() => stored(site)).toEqual(['honey', 'rice', 'bread', 'milk']);
    await poll(() => waiting(page)).toEqual([]);
    await field(page).fill('jam');
    const draft = await page.evaluate("JSON.parse(sessionStorage.getItem('drafts'))['/task'].title");
    expect(draft).toBe('jam');
  });

  test('a lost tick is told even if the list is too old to show that it was not made', async () => {
    await site.add('milk');
    const page = await open();
    relay.lose();
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    const held = Promise.withResolvers<void>();
    relay.held.set('/tasks/1', held.promise);
    onTestFinished(() => relay.held.clear());
    for (const path of ['/tasks/partial?', '/?', '/task/1/unfinish'])
      relay.answers.set(path, { status: 503 });
    relay.restore();
    await poll(async () => (await site.store.list({ filter: 'all' })).finished).toBe(1);
    await page.locator('#task-1 .toggle').click();
    held.resolve();
    await poll(() => notice(page)).toContain('milk\u2069: This failed (error 503).');
    relay.answers.clear();
    await poll(() => titles(page)).toEqual(['(milk)']);
    expect(await notice(page)).toContain('milk\u2069: This failed (error 503).');
  });

  test.each([
    ['Clear finished', (page: Page) => page.getByRole('button', { name: 'Clear finished' }).click()],
    ['Delete', (page: Page) => page.getByLabel('Delete: milk').click()],
    [
      'Save',
      async (page: Page) => {
        await edit(page, 1, '');
        await page.keyboard.press('Enter');
      },
    ],
  ])('a tick that waits stays shown if another change of its task fails (%s)', async (_, act) => {
    await site.add('milk', 'bread', 'tea');
    const page = await open();
    await finish(page, 'tea');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await loseConnection(page);
    await finish(page, 'milk');
    await page.locator('#task-1[data-waits]').waitFor();
    await act(page);
    await page.getByText('This needs a connection.').waitFor();
    expect(await page.getByLabel('Reopen: milk').count()).toBe(1);
    await page
      .getByRole('link', { name: 'Cancel' })
      .or(page.getByRole('button', { name: 'Close' }))
      .click();
    expect(await titles(page)).toEqual(['bread', '(tea)', '(milk)']);
    expect(await waiting(page)).toEqual(['milk']);
  });

  test('a tick that was sent stays shown until the list shows it, and an Undo of it without a connection waits', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await loseConnection(page);
    await finish(page, 'milk');
    await page.locator('#task-1[data-waits]').waitFor();
    const shown = Promise.withResolvers<void>();
    relay.held.set('/tasks/partial?', shown.promise);
    onTestFinished(() => relay.held.clear());
    relay.restore();
    await poll(() => waiting(page)).toEqual([]);
    await poll(() => page.locator('[data-waits]').count()).toBe(0);
    expect(await titles(page)).toEqual(['bread', '(milk)']);
    // The list is never loaded.
    relay.lose();
    shown.resolve();
    relay.held.clear();
    await poll(() => connection(page)).toContain('no connection');
    expect(await titles(page)).toEqual(['bread', '(milk)']);
    for (const name of ['Reopen: milk', 'Finish: milk', 'Reopen: milk'])
      await page.getByLabel(name).press('Enter');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    expect(await titles(page)).toEqual(['bread', 'milk']);
    relay.restore();
    await poll(() => site.store.list({ filter: 'all' })).toMatchObject({ open: 2, finished: 0 });
    await poll(() => page.locator('[data-waits]').count()).toBe(0);
    await poll(() => titles(page)).toEqual(['bread', 'milk']);
  });

  test('a page does not say that it has sent what waits', async () => {
    const [milk = ''] = await site.add('milk', 'bread', 'tea');
    const page = await open();
    await loseConnection(page);
    for (const title of ['milk', 'bread']) await finish(page, title);
    relay.answers.set(`/tasks/2`, { status: 503 });
    relay.restore();
    await poll(() => connection(page)).toBe('1 tick waits on this device.');
    await poll(() => site.store.list({ filter: 'finished' })).toMatchObject({ tasks: [{ _id: milk }] });
    await poll(() => titles(page)).toEqual(['tea', '(bread)', '(milk)']);
    expect(await notice(page)).not.toContain('Sent.');
    relay.answers.clear();
    await poll(() => notice(page)).toContain('Sent.');
    await loseConnection(page);
    await finish(page, 'tea');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    expect(await notice(page)).not.toContain('Sent.');
    relay.restore();
    await poll(() => notice(page)).toContain('Sent.');
    await loseConnection(page);
    await typeLines(page, 'oats');
    await poll(() => connection(page)).toContain('1 new task waits on this device.');
    expect(await notice(page)).not.toContain('Sent.');
  });

  test('a tick that is sent later brings no row under the finger', async () => {
    await site.add(...Array.from({ length: 101 }, (_, i) => `task ${i + 1}`));
    await site.store.update('1', { finished: 1 }, new Date());
    const page = await open();
    await page.goto(`${relay.url}?filter=finished`);
    await loseConnection(page);
    await page.getByLabel('Reopen: task 1', { exact: true }).click();
    await poll(() => waiting(page)).toEqual(['task 1']);
    await page.goto(relay.url);
    await field(page).fill('half-typed');
    await site.store.destroy('100', 'gone');
    relay.restore();
    await poll(() => notice(page)).toContain('Sent.');
    await poll(() => page.locator('#list').getAttribute('data-version')).toBe(
      (await site.store.list({ filter: 'all' })).version,
    );
    expect(await page.locator('#task-1').count()).toBe(0);
  });

  test('a task that somebody has deleted is dropped and named, and holds up nothing', async () => {
    const [milk = ''] = await site.add('milk', 'bread');
    const page = await open();
    relay.lose();
    for (const title of ['milk', 'bread']) await finish(page, title);
    await poll(() => connection(page)).toContain('2 ticks wait on this device.');
    await site.store.destroy(milk, 'removal');
    relay.restore();
    await poll(() => notice(page)).toMatch(/milk.*There is no such task/);
    await poll(async () => (await site.store.list({ filter: 'all' })).tasks).toMatchObject([
      { title: 'bread', finished: 1 },
    ]);
    await poll(() => waiting(page)).toEqual([]);
    await page.getByLabel('Reopen: bread').click();
    await poll(() => notice(page)).toContain('Reopened: bread');
    expect(await notice(page)).toMatch(/milk.*There is no such task/);
  });

  test('a line beside one that a failed store has refused is sent, too', async () => {
    const page = await open();
    await site.withoutStore(async () => {
      await typeLines(page, 'milk');
      await page.locator('.write .problem').waitFor();
    });
    await loseConnection(page);
    await field(page).press('End');
    await page.keyboard.type('bread');
    await field(page).press('Enter');
    await poll(() => connection(page)).toContain('2 new tasks wait on this device.');
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['bread', 'milk']);
  });

  test('a list that could not be kept is kept once the connection is back', async () => {
    const page = await open();
    relay.asked.splice(0);
    relay.answers.set('/', { status: 503 });
    await site.add('milk');
    await poll(() => titles(page)).toEqual(['milk']);
    await poll(() => relay.asked).toContain('GET /');
    await loseConnection(page);
    relay.answers.clear();
    expect(await keptPage(page)).not.toContain('milk');
    relay.restore();
    await poll(() => keptPage(page)).toContain('milk');
  });

  test('a line stays in the field until the list shows it', async () => {
    const page = await openWithWaiting('milk', 'bread');
    const isAsked = Promise.withResolvers<void>();
    await page.route('**/tasks/partial*', async (route) => {
      isAsked.resolve();
      relay.lose();
      await route.abort();
    });
    relay.restore();
    await isAsked.promise;
    await poll(() => connection(page)).toContain('2 new tasks wait on this device.');
    expect(await stored(site)).toEqual(['bread', 'milk']);
    expect((await field(page).inputValue()).trim()).toBe('milk\nbread');
    await page.unrouteAll();
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await titles(page)).toEqual(['bread', 'milk']);
    expect(await stored(site)).toEqual(['bread', 'milk']);
  });

  test('shared text becomes a line of the field', async () => {
    const page = await open();
    await field(page).fill('bread');
    relay.lose();
    await page.goto(
      `${relay.url}tasks/new?title=Soup&text=https%3A%2F%2Fa.example%2F&url=https%3A%2F%2Fa.example%2F`,
    );
    await poll(() => field(page).inputValue()).toBe('bread\nSoup https://a.example/');
    expect(page.url()).toBe(relay.url);
    expect(await waiting(page)).toEqual([]);
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('bread\nSoup https://a.example/');
    await field(page).press('Enter');
    await poll(() => connection(page)).toContain('2 new tasks wait on this device.');
    relay.restore();
    await poll(() => stored(site)).toEqual(['Soup https://a.example/', 'bread']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('shared text that could not be sent becomes a line of the field, and is added once', async () => {
    const page = await open();
    await page.goto(`${relay.url}tasks/new?title=Soup`);
    await field(page).fill('Soup and bread');
    await loseConnectionAt(page, '**/tasks');
    await page.getByRole('button', { name: 'Add' }).click();
    await leaveErrorPage(page);
    await poll(() => field(page).inputValue()).toBe('Soup and bread');
    await field(page).press('Enter');
    await poll(() => waiting(page)).toEqual(['Soup and bread']);
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['Soup and bread']);
  });

  test('shared text is added to an earlier one that was not sent', async () => {
    const page = await open();
    await page.goto(`${relay.url}tasks/new?title=Soup`);
    relay.lose();
    await page.goto(`${relay.url}tasks/new?title=Bread`);
    await poll(() => field(page).inputValue()).toBe('Soup\nBread');
  });

  test('a list to import is still in its form after an import without a connection', async () => {
    const page = await open();
    await page.goto(`${relay.url}tasks/removals`);
    await page.goto(`${relay.url}tasks/import`);
    await page.getByLabel('One task on each line').fill('rice\noil');
    relay.lose();
    await page.getByRole('button', { name: 'Import' }).first().click();
    await leaveErrorPage(page);
    await poll(() => connection(page)).toMatch(/no connection\.$/);
    relay.restore();
    await page.goto(`${relay.url}tasks/import`);
    await poll(() => page.getByLabel('One task on each line').inputValue()).toBe('rice\noil');
  });

  test('lines above the limit stay in the field, and the others are sent', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await loseConnection(page);
    await finish(page, 'milk');
    const lines = Array.from({ length: 199 }, (_, i) => `line ${i}`);
    await field(page).fill([...lines, 'one more', 'and another'].join('\n'));
    await field(page).press('Enter');
    await poll(() => connection(page)).toContain('1 tick and 199 new tasks wait on this device.');
    const reason = 'This needs a connection, because 200 changes wait already.';
    await poll(() => page.locator('.write .problem').textContent()).toBe(reason);
    expect(await page.getByRole('button', { name: 'Add 201 tasks' }).count()).toBe(1);
    await finish(page, 'bread');
    await poll(() => notice(page)).toBe(`\u2068bread\u2069: ${reason} Close`);
    expect(await titles(page)).toEqual(['bread', '(milk)']);
    relay.restore();
    await poll(() =>
      field(page)
        .inputValue()
        .then((text) => text.trim()),
    ).toBe('one more\nand another');
    expect((await site.store.list({ filter: 'open' })).open).toBe(200);
  });

  test('new lines wait in the field, survive a crash, and are sent once', async () => {
    const page = await open();
    await loseConnection(page);
    await typeLines(page, 'milk');
    await poll(() => page.getByRole('button', { name: 'Add when online' }).count()).toBe(1);
    expect(await connection(page)).toContain('1 new task waits on this device.');
    const again = await reopen(page);
    await poll(() => field(again).inputValue()).toContain('milk');
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk']);
    await poll(() => field(again).inputValue()).toBe('');
    await poll(() => waiting(again)).toEqual([]);
    await poll(() => titles(again)).toEqual(['milk']);
  });

  test('pasted lines wait in the field like typed ones', async () => {
    const page = await open();
    await page.context().grantPermissions(['clipboard-write']);
    await page.evaluate("navigator.clipboard.writeText('rice\\noil\\nsalt')");
    await loseConnection(page);
    await typeLines(page, 'milk');
    await page.keyboard.press('ControlOrMeta+V');
    await poll(() => field(page).inputValue()).toBe('milk\nrice\noil\nsalt');
    await page.keyboard.press('Enter');
    await poll(() => connection(page)).toContain('4 new tasks wait on this device.');
    relay.restore();
    await poll(() => stored(site)).toEqual(['salt', 'oil', 'rice', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('the button does not say that a line waits before the browser has stored it', async () => {
    const page = await open();
    await page.addInitScript(slowStorage);
    await page.reload();
    await loseConnection(page);
    await typeLines(page, 'milk');
    await page.getByRole('button', { name: 'Add when online' }).waitFor();
    expect(await connection(page)).toContain('1 new task waits on this device.');
  });

  test('lines that the server refuses stay in the field, and are not sent again', async () => {
    const page = await open();
    const sent: string[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'POST') sent.push(`${response.status()}`);
    });
    relay.lose();
    await field(page).fill('x'.repeat(501));
    await field(page).press('Enter');
    await poll(() => waiting(page)).toEqual(['x'.repeat(501)]);
    relay.restore();
    await poll(() => page.getByRole('alert').textContent()).toContain('at most 500 characters');
    await site.add('later');
    await poll(() => titles(page)).toEqual(['later']);
    expect(sent).toEqual(['422']);
    await poll(() => waiting(page)).toEqual([]);
    expect(await field(page).inputValue()).toContain('xxx');
  });

  test('a tick that has to wait longer still waits, and is not sent again at once', async () => {
    await site.add('milk');
    const page = await open();
    let sent = 0;
    await page.route('**/tasks/1', (route) => {
      sent += 1;
      return route.fulfill({ status: sent === 1 ? 408 : 429, body: '' });
    });
    relay.lose();
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    const restoredAt = Date.now();
    relay.restore();
    await poll(() => sent).toBeGreaterThan(1);
    expect(await connection(page)).toContain('1 tick waits on this device.');
    await site.add('later');
    await poll(() => titles(page)).toContain('later');
    // Each event of the stream is one attempt. It comes after a change, and every 5 s, which are many on a busy machine.
    expect(sent).toBeLessThan(6 + (Date.now() - restoredAt) / 5_000);
  });

  test('Delete and Clear finished come after the ticks that wait', async () => {
    await site.add('milk', 'bread', 'tea', 'jam');
    const page = await open();
    await finishAndWait(page, 'jam');
    await loseConnection(page);
    await finish(page, 'tea');
    await finish(page, 'bread');
    await poll(() => waiting(page)).toHaveLength(2);
    relay.forwarded.splice(0);
    // The page hears of the connection only from its own requests.
    relay.answers.set('/tasks/events', { status: 502 });
    relay.restore();
    await page.getByLabel('Delete: tea').press('Enter');
    await page.getByText('Clear finished').press('Enter');
    await poll(() => stored(site)).toEqual(['milk']);
    await poll(() => notice(page)).toContain('Cleared 2 tasks');
    expect(await titles(page)).toEqual(['milk']);
    const changes = relay.forwarded.filter(({ method }) => /^P/.test(method));
    const sent = changes.map(({ method, path }) => `${method} ${path}`);
    expect(sent).toEqual(['PUT /tasks/3', 'PUT /tasks/2', 'POST /tasks/3', 'POST /tasks/finished']);
  });

  test('Clear finished does not clear a task whose reopening could not be sent', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await finishAndWait(page, 'milk', 'bread');
    await loseConnection(page);
    await page.getByLabel('Reopen: milk').click();
    await poll(() => waiting(page)).toHaveLength(1);
    await page.route('**/tasks/1', (route) => route.abort());
    relay.answers.set('/tasks/events', { status: 502 });
    relay.restore();
    await page.getByText('Clear finished').press('Enter');
    await poll(() => notice(page)).toContain('This needs a connection.');
    expect(await stored(site)).toEqual(['bread', 'milk']);
    await page.unroute('**/tasks/1');
    await page.getByText('Clear finished').press('Enter');
    await poll(() => stored(site)).toEqual(['milk']);
    expect(await titles(page)).toEqual(['milk']);
  });

  test('Clear finished does not clear a task whose reopening has just failed', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await finishAndWait(page, 'milk', 'bread');
    await page.evaluate(slowStorage);
    await page.route('**/task/1/unfinish*', async (route) => {
      relay.answers.set('/tasks/events', { status: 502 });
      await loseConnection(page);
      relay.restore();
      await route.abort();
    });
    await page.getByLabel('Reopen: milk').press('Enter');
    await page.getByText('Clear finished').press('Enter');
    await poll(() => notice(page)).toContain('This needs a connection.');
    expect(await stored(site)).toEqual(['bread', 'milk']);
  });

  test('Undo of a change stays when what waits is sent after it', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await loseConnection(page);
    await finish(page, 'bread');
    await poll(() => waiting(page)).toHaveLength(1);
    await edit(page, 1, ' 2 l');
    relay.answers.set('/tasks/events', { status: 502 });
    relay.restore();
    await page.keyboard.press('Enter');
    await poll(() => connection(page)).toBe('');
    await poll(() => titles(page)).toEqual(['milk 2 l', '(bread)']);
    expect(await notice(page)).toMatch(/Saved: milk 2 l\s+Undo/);
  });

  test('Undo is not offered for a change before one that waits', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await finish(page, 'bread');
    await poll(() => notice(page)).toMatch(/Finished: bread\s+Undo/);
    await loseConnection(page);
    await typeLines(page, 'tea');
    await poll(() => notice(page)).not.toContain('Undo');
    relay.restore();
    await poll(() => notice(page)).toContain('Sent.');
  });

  test('a tick that the page of a login answers still waits', async () => {
    await site.add('milk');
    const page = await open();
    relay.lose();
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    relay.answers.set('/tasks/1', { status: 303, headers: { Location: '/' } });
    relay.restore();
    await poll(() => relay.asked.filter((each) => each === 'PUT /tasks/1').length).toBeGreaterThan(0);
    await poll(() => connection(page)).toBe('1 tick waits on this device.');
    relay.answers.clear();
    await poll(async () => (await site.store.list({ filter: 'finished' })).finished).toBe(1);
    await poll(() => connection(page)).toBe('');
  });

  test('deleting and editing say that they need a connection', async () => {
    await site.add('milk');
    const page = await open();
    await loseConnection(page);
    await page.getByLabel('Delete: milk').click();
    await poll(() => notice(page)).toBe('\u2068milk\u2069: This needs a connection. Close');
    await edit(page, 1, ' and bread');
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.editing .problem').textContent()).toBe('This needs a connection.');
    expect(await titles(page)).toEqual([]);
  });

  test('a change that needs a connection is not sent to a server that hangs, which could make it later', async () => {
    await site.add('milk', 'bread');
    const page = await open();
    await page.clock.install();
    await page.reload();
    relay.lose('silent');
    await page.clock.fastForward(20_000);
    await poll(() => connection(page)).toContain('no connection');
    relay.asked.splice(0);
    await page.getByLabel('Delete: milk').click();
    await poll(() => notice(page)).toContain('milk\u2069: This needs a connection.');
    await edit(page, 2, ' and tea');
    await page.keyboard.press('Enter');
    await poll(() => page.locator('.editing .problem').textContent()).toBe('This needs a connection.');
    expect(relay.asked.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  test('a tick that fails just before the page hears that the connection is lost waits', async () => {
    await site.add('milk');
    const page = await open();
    for (const path of ['**/task/1/finish', '**/public/worker.js'])
      await page.route(path, (route) => route.abort());
    await finish(page, 'milk');
    await poll(() => connection(page)).toContain('1 tick waits on this device.');
    await page.unrouteAll();
    await poll(() => notice(page)).toContain('Sent.');
    expect((await site.store.list({ filter: 'finished' })).finished).toBe(1);
  });

  test.each([
    ['', ''],
    [', even if the storage answers late', slowStorage],
  ])('lines that were typed after several reloads are all sent, each once%s', async (_, script) => {
    const page = await open();
    await page.addInitScript(script);
    relay.lose();
    for (const title of ['milk', 'bread', 'tea']) {
      await page.reload();
      await field(page).press('End');
      await enter(page, title);
      // The browser has stored the line, but the page may not know it yet.
      await poll(() => waiting(page)).toContain(title);
    }
    await poll(() => connection(page)).toContain('3 new tasks wait on this device.');
    await poll(async () => (await field(page).inputValue()).split('\n').toSorted()).toEqual([
      '',
      'bread',
      'milk',
      'tea',
    ]);
    let sent = 0;
    await page.route('**/tasks', (route) => {
      sent += 1;
      return sent === 2 ? route.abort() : route.continue();
    });
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect((await stored(site)).toSorted()).toEqual(['bread', 'milk', 'tea']);
  });

  test('lines that were typed before and after the page knew of earlier ones wait once each', async () => {
    const page = await open();
    await page.addInitScript(slowStorage);
    relay.lose();
    await page.reload();
    await enter(page, 'milk');
    await poll(() => connection(page)).toContain('1 new task waits on this device.');
    await field(page).press('End');
    await enter(page, 'bread');
    await poll(() => waiting(page)).toEqual(['milk', 'bread']);
    await page.reload();
    await field(page).press('End');
    await enter(page, 'tea');
    await poll(async () => (await waiting(page)).toSorted()).toEqual(['bread', 'milk', 'tea']);
    await poll(() => connection(page)).toContain('3 new tasks wait on this device.');
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect((await stored(site)).toSorted()).toEqual(['bread', 'milk', 'tea']);
  });

  test('no row moves when the connection is lost or back', async () => {
    await site.add('milk');
    const page = await open();
    const top = async () => (await page.locator('#task-1').boundingBox())?.y;
    const before = await top();
    await loseConnection(page);
    expect(await top()).toBe(before);
  });

  test.each<[string, (page: Page) => Promise<unknown>]>([
    ['without a connection', async () => {}],
    ['once there is a connection', restore],
  ])('a tap that was aimed before a reload hits no other row (%s)', async (_, prepare) => {
    await site.add('jam', 'milk', 'bread');
    const page = await open();
    await loseConnection(page);
    await typeLines(page, 'tea', 'rice', 'salt');
    await poll(() => waiting(page)).toHaveLength(3);
    const toggle = await page.locator('#task-2 .toggle').boundingBox();
    if (!toggle) throw new Error('the row has no toggle');
    const [x, y] = [toggle.x + toggle.width / 2, toggle.y + toggle.height / 2];
    // The scripts of the page have run by then, but the browser has not read what waits.
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      window.hit = document.elementFromPoint(${x}, ${y})?.closest('li')?.id ?? 'no row';
      window.lines = document.querySelector('#title').value;
    })`);
    await prepare(page);
    await page.reload();
    expect(await page.evaluate('[window.hit, window.lines]')).toEqual(['no row', '']);
    await page.getByLabel('Finish: milk').click();
    await poll(() => titles(page)).toContain('(milk)');
  });

  test('rows that move because a waiting line leaves the field ignore taps', async () => {
    await site.add('bread');
    const page = await openWithWaiting('milk');
    // The page may reconnect at once, so it has to watch before.
    await page.evaluate(`void (window.taps = new Promise((resolve) =>
      new MutationObserver(() => resolve(getComputedStyle(document.getElementById('task-1')).pointerEvents))
        .observe(document.getElementById('title').form, { attributeFilter: ['data-waits'] })))`);
    relay.restore();
    expect(await page.evaluate('window.taps')).toBe('none');
  });

  test.each<[string, (page: Page) => Promise<unknown>, (page: Page) => Promise<unknown>]>([
    ['an error in a form goes', loseEdit, restore],
    ['the button of the field becomes wider', (page) => field(page).fill('milk'), addWithout],
    ['the mark of a tick goes', tickWithout, restore],
  ])('rows that move because %s ignore taps', async (_, prepare, act) => {
    const page = await site.openNew('about:blank', { viewport: { width: 390, height: 844 } });
    await site.add('oats', `tea and ${'x'.repeat(28)}`);
    await page.goto(relay.url);
    await prepare(page);
    const top = () => page.evaluate<number>("document.getElementById('task-1').getBoundingClientRect().top");
    await poll(() => page.evaluate("getComputedStyle(document.getElementById('task-1')).pointerEvents")).toBe(
      'auto',
    );
    const before = await top();
    // The page may reconnect at once, so it has to watch before.
    await page.evaluate(`void (window.taps = new Promise((resolve) => {
      const row = document.getElementById('task-1');
      const look = () => {
        if (row.getBoundingClientRect().top === ${before}) return;
        // After the page's own microtasks.
        setTimeout(() => resolve(getComputedStyle(row).pointerEvents));
      };
      new MutationObserver(look).observe(document.body, { attributes: true, childList: true, subtree: true });
    }))`);
    await act(page);
    expect(await page.evaluate('window.taps')).toBe('none');
  });

  test('two pages of a device send what waits once', async () => {
    await site.add('bread');
    const page = await open();
    const other = await openOther(page);
    await loseConnection(page);
    await typeLines(page, 'milk');
    await finish(page, 'bread');
    await poll(() => connection(page)).toContain('1 tick and 1 new task wait on this device.');
    await other.reload();
    await poll(() => titles(other)).toEqual(['(bread)']);
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk', 'bread']);
    for (const each of [page, other]) {
      await poll(() => field(each).inputValue()).toBe('');
      await poll(() => titles(each)).toEqual(['milk', '(bread)']);
      await poll(() => connection(each)).toBe('');
    }
    expect(await stored(site)).toEqual(['milk', 'bread']);
  });

  test('a waiting line that the user corrects goes on waiting, and is sent once the user has left the field', async () => {
    const page = await openWithWaiting('milk', 'bread', 'tea');
    for (const key of ['ArrowUp', 'ArrowUp', 'End']) await page.keyboard.press(key);
    await page.keyboard.type(' and ');
    await poll(() => waiting(page)).toEqual(['milk', 'bread and ', 'tea']);
    expect(await connection(page)).toContain('3 new tasks wait on this device.');
    relay.restore();
    await poll(() => stored(site)).toEqual(['tea', 'milk']);
    await poll(() => field(page).inputValue()).toBe('bread and \n');
    expect(await notice(page)).not.toContain('Sent.');
    await page.keyboard.type('rye');
    await poll(() => waiting(page)).toEqual(['bread and rye']);
    await field(page).blur();
    await poll(() => stored(site)).toEqual(['bread and rye', 'tea', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    await poll(() => notice(page)).toContain('Sent.');
  });

  test('a waiting line that the user types anew survives a reload, and one that the user takes out does not wait', async () => {
    const page = await openWithWaiting('milk', 'oats', 'tea');
    for (const key of ['ArrowUp', 'ArrowUp', 'End']) await page.keyboard.press(key);
    for (const _ of 'oats') await page.keyboard.press('Backspace');
    expect(await field(page).inputValue()).toBe('milk\n\ntea\n');
    await poll(() => waiting(page)).toEqual(['milk', 'tea']);
    await page.keyboard.type('rice');
    await poll(() => waiting(page)).toEqual(['milk', 'rice', 'tea']);
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('milk\nrice\ntea\n');
    await field(page).focus();
    await page.keyboard.press('ControlOrMeta+Home');
    for (const _ of 'milk') await page.keyboard.press('Delete');
    await poll(() => waiting(page)).toEqual(['rice', 'tea']);
    await field(page).blur();
    await field(page).focus();
    await page.keyboard.press('ControlOrMeta+Home');
    for (const _ of '\nrice\n') await page.keyboard.press('Delete');
    await field(page).blur();
    await poll(() => waiting(page)).toEqual(['tea']);
    relay.restore();
    await poll(() => stored(site)).toEqual(['tea']);
  });

  test('what the user has taken out or joined does not return with a reload', async () => {
    const page = await openWithWaiting('gin', 'tea', 'rum', 'oil');
    for (const key of ['ArrowUp', 'ArrowUp', 'Home', 'Backspace', '/']) await page.keyboard.press(key);
    await page.keyboard.press('ControlOrMeta+End');
    for (const _ of '\noil') await page.keyboard.press('Backspace');
    for (const key of ['ControlOrMeta+Home', 'Shift+ArrowDown', 'Delete']) await page.keyboard.press(key);
    expect(await field(page).inputValue()).toBe('tea/rum\n');
    await poll(() => connection(page)).toContain('1 new task waits on this device.');
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('tea/rum\n');
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['tea/rum']);
  });

  test('a page tells of a line that the server may have, and that the user took out before a reload', async () => {
    const page = await open();
    await loseConnectionAt(page, '**/task');
    await typeLines(page, 'gin');
    await poll(() => connection(page)).toContain('1 new task waits on this device.');
    await field(page).fill('');
    await poll(() => connection(page)).not.toContain('wait');
    await page.reload();
    await poll(() => notice(page)).toContain('gin\u2069: This may be in the list already.');
    expect(await field(page).inputValue()).toBe('');
  });

  test('a corrected line survives a killed browser', async () => {
    const { page, restart } = await openKept();
    await loseConnection(page);
    await typeLines(page, 'sausages', 'mince');
    await poll(() => waiting(page)).toEqual(['sausages', 'mince']);
    await field(page).fill('bratwurst\nmince\n');
    await poll(() => waiting(page)).toEqual(['bratwurst', 'mince']);
    const again = await restart();
    await poll(() => field(again).inputValue()).toBe('bratwurst\nmince\n');
    relay.restore();
    await poll(() => stored(site)).toEqual(['mince', 'bratwurst']);
  });

  test('text that was not added survives a killed browser, and is not sent by itself', async () => {
    const { page, restart } = await openKept();
    await loseConnection(page);
    await typeLines(page, 'milk');
    await page.keyboard.type('eggs');
    await poll(() => drafts(page)).toEqual(['eggs']);
    const again = await restart();
    await poll(() => field(again).inputValue()).toBe('milk\neggs');
    await again.reload();
    await poll(() => field(again).inputValue()).toBe('milk\neggs');
    relay.restore();
    await poll(() => field(again).inputValue()).toBe('eggs');
    await poll(() => notice(again)).toContain('Sent.');
    expect(await stored(site)).toEqual(['milk']);
    await field(again).press('Enter');
    await poll(() => stored(site)).toEqual(['eggs', 'milk']);
    await poll(() => drafts(again)).toEqual([]);
  });

  test('no other page takes over the text in the field while its user is on another page', async () => {
    const page = await open();
    await field(page).fill('eggs');
    await poll(() => drafts(page)).toEqual(['eggs']);
    await page.goto(`${relay.url}tasks/import`);
    const other = await openOther(page);
    await other.waitForTimeout(500);
    expect(await field(other).inputValue()).toBe('');
    await page.goBack();
    await poll(() => field(page).inputValue()).toBe('eggs');
  });

  test('no other page sends a line that the user is correcting', async () => {
    const page = await openWithWaiting('brocoli', 'tea');
    const other = await openOther(page);
    await page.bringToFront();
    await field(page).fill('broc\ntea\n');
    await poll(() => waiting(other)).toEqual(['broc', 'tea']);
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('broc\n');
    await field(page).fill('broccoli\n');
    expect(await stored(site)).toEqual(['tea']);
    await field(page).blur();
    await poll(() => stored(site)).toEqual(['broccoli', 'tea']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('the field does not change while a phone composes a word', async () => {
    const page = await openWithWaiting('milk');
    const { compose, commit } = await composer(page);
    await compose('ban');
    relay.restore();
    await poll(() => waiting(page)).toEqual([]);
    await compose('bana');
    await commit('banana');
    await poll(() => field(page).inputValue()).toBe('banana');
    relay.held.set('/task', new Promise(() => {}));
    await field(page).press('Enter');
    await compose('ric');
    await poll(() => stored(site)).toEqual(['banana', 'milk']);
    await loseConnection(page);
    await compose('rice');
    await commit('rice');
    await poll(() => field(page).inputValue()).toBe('banana\nrice');
    relay.held.clear();
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('rice');
    expect(await stored(site)).toEqual(['banana', 'milk']);
  });

  test('a tap on Add that ends the word adds it, even if a line leaves the field meanwhile', async () => {
    const page = await openWithWaiting('milk');
    await page.setViewportSize({ width: 390, height: 844 });
    const { compose } = await composer(page);
    await compose('bread');
    relay.restore();
    await poll(() => waiting(page)).toEqual([]);
    expect(await field(page).inputValue()).toBe('milk\nbread');
    await page.getByRole('button', { name: 'Add 2 tasks' }).click();
    await poll(() => stored(site)).toEqual(['bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['bread', 'milk']);
  });

  test('a line that the server has refused is not called sent, and survives a killed browser', async () => {
    const { page, restart } = await openKept();
    await loseConnection(page);
    const long = 'nuts '.repeat(101).trim();
    await typeLines(page, long, 'tea');
    await poll(() => waiting(page)).toEqual([long, 'tea']);
    relay.restore();
    await poll(() => field(page).inputValue()).toBe(`${long}\n`);
    await page.locator('.write .problem', { hasText: 'at most 500 characters' }).waitFor();
    // It would sound as if the server had this one.
    expect(await notice(page)).not.toContain('Sent.');
    await poll(() => drafts(page)).toEqual([`${long}\n`]);
    const again = await restart();
    await poll(() => field(again).inputValue()).toBe(`${long}\n`);
  });

  test('a line that the server has, but the page does not show yet, is corrected in the list', async () => {
    const page = await openWithWaiting('gin', 'rum', 'wine');
    await field(page).blur();
    // Reception ends before the list is back.
    relay.held.set('/tasks/partial?', new Promise(() => {}));
    relay.restore();
    await poll(() => stored(site)).toEqual(['wine', 'rum', 'gin']);
    relay.held.clear();
    await loseConnection(page);
    await poll(() => connection(page)).toContain('3 new tasks wait on this device.');
    await field(page).fill('gin and tonic\nrum\nwine\n');
    await field(page).fill('gin and tonic\nwine\n');
    await field(page).blur();
    await poll(() => notice(page)).toContain('rum\u2069: This may be in the list already.');
    await field(page).fill('gin and tonic\nred wine\n');
    await poll(() => waiting(page)).toEqual(['gin and tonic', 'red wine']);
    await field(page).blur();
    relay.restore();
    await poll(() => stored(site)).toEqual(['red wine', 'rum', 'gin and tonic']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('a corrected line that somebody else has changed meanwhile stays as it is in the list', async () => {
    const page = await open();
    await loseConnectionAt(page, '**/task');
    await typeLines(page, 'gin');
    await poll(() => connection(page)).toContain('1 new task waits on this device.');
    await site.store.update('1', { title: 'whisky' }, new Date());
    await field(page).fill('rum\n');
    await poll(() => waiting(page)).toEqual(['rum']);
    relay.restore();
    await field(page).blur();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['whisky']);
  });

  test('a line that begins like a waiting one is not taken for a correction', async () => {
    const page = await openWithWaiting('nuts', 'nuts salted');
    await page.reload();
    await poll(() => field(page).inputValue()).toBe('nuts\nnuts salted\n');
    await field(page).focus();
    await page.keyboard.type('nuts salted, 200 g');
    expect(await waiting(page)).toEqual(['nuts', 'nuts salted']);
    relay.restore();
    await poll(() => stored(site)).toEqual(['nuts salted', 'nuts']);
    await poll(() => field(page).inputValue()).toBe('nuts salted, 200 g');
    await field(page).blur();
    await poll(() => notice(page)).toContain('Sent.');
    expect(await stored(site)).toEqual(['nuts salted', 'nuts']);
  });

  test('a line that is typed in another place than an emptied one is not taken for its correction', async () => {
    const page = await openWithWaiting('gin', 'tea');
    await page.keyboard.press('ControlOrMeta+Home');
    for (const _ of 'gin') await page.keyboard.press('Delete');
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('milk');
    await field(page).blur();
    await poll(() => waiting(page)).toEqual(['tea']);
    expect((await field(page).inputValue()).trim()).toBe('tea\nmilk');
  });

  test('two waiting lines that the user joins wait as one, and wait again if the user undoes that', async () => {
    const page = await openWithWaiting('salt', 'onions', 'garlic', 'salt');
    for (const key of ['ArrowUp', 'ArrowUp', 'Home', 'Backspace']) await page.keyboard.press(key);
    await page.keyboard.press('ControlOrMeta+Z');
    await poll(() => field(page).inputValue()).toBe('salt\nonions\ngarlic\nsalt\n');
    for (const key of ['ControlOrMeta+A', 'Delete', 'ControlOrMeta+Z']) await page.keyboard.press(key);
    await field(page).blur();
    expect(await waiting(page)).toEqual(['salt', 'onions', 'garlic', 'salt']);
    await poll(() => page.locator('form.write .main').textContent()).toBe('Add when online');
    await field(page).focus();
    for (const key of ['ControlOrMeta+Home', 'ArrowDown', 'ArrowDown', 'Backspace'])
      await page.keyboard.press(key);
    await page.keyboard.type(', ');
    await field(page).blur();
    await poll(() => waiting(page)).toEqual(['salt', 'onions, garlic', 'salt']);
    expect(await field(page).inputValue()).toBe('salt\nonions, garlic\nsalt\n');
    await field(page).blur();
    relay.restore();
    await poll(() => stored(site)).toEqual(['salt', 'onions, garlic', 'salt']);
  });

  test('a waiting line that the user moves to another place goes on waiting, and is added once', async () => {
    const page = await openWithUnanswered('gin');
    await typeLines(page, 'rum');
    await poll(() => waiting(page)).toEqual(['gin', 'rum']);
    for (const key of ['ControlOrMeta+Home', 'Shift+ArrowDown', 'ControlOrMeta+X', 'ControlOrMeta+End'])
      await page.keyboard.press(key);
    expect(await field(page).inputValue()).toBe('rum\n');
    await page.keyboard.type('gin');
    await field(page).blur();
    expect(await waiting(page)).toEqual(['gin', 'rum']);
    expect(await field(page).inputValue()).toBe('rum\ngin');
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['rum', 'gin']);
  });

  test('equal lines that are added while some of them are sent leave the field once the list shows them', async () => {
    const page = await openWithWaiting('rice', 'rice brown', 'rice');
    const answer = Promise.withResolvers<void>();
    relay.held.set('/tasks', answer.promise);
    relay.restore();
    await poll(() => stored(site)).toEqual(['rice']);
    await enter(page, 'oil', 'rice');
    answer.resolve();
    relay.held.clear();
    await poll(() => field(page).inputValue()).toBe('');
    expect((await stored(site)).toSorted()).toEqual(['oil', 'rice', 'rice', 'rice', 'rice brown']);
    await poll(() => notice(page)).toContain('Sent.');
  });

  test('a waiting line that the user clears with the whole field and types anew is added once', async () => {
    const page = await openWithUnanswered('gin');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('Delete');
    await enter(page, 'gin');
    relay.restore();
    await poll(() => field(page).inputValue()).toBe('');
    expect(await stored(site)).toEqual(['gin']);
  });

  test('the button says that lines wait only if all of them do', async () => {
    const page = await open();
    await loseConnection(page);
    const button = page.locator('form.write .main');
    await typeLines(page, 'milk');
    await poll(() => button.textContent()).toBe('Add when online');
    await page.keyboard.type('bread');
    await poll(() => button.textContent()).toBe('Add 2 tasks');
    await page.keyboard.press('Enter');
    await poll(() => button.textContent()).toBe('Add when online');
  });

  test('a line with spaces around it goes on waiting while the user types the next one', async () => {
    const page = await openWithWaiting(' milk ', ' bread ');
    await page.keyboard.type('t');
    expect(await waiting(page)).toEqual([' milk ', ' bread ']);
    await page.reload();
    await field(page).focus();
    await page.keyboard.type('ea');
    expect(await waiting(page)).toEqual([' milk ', ' bread ']);
    await page.keyboard.press('Enter');
    relay.restore();
    await poll(() => stored(site)).toEqual(['tea', 'bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('a line that the user types meanwhile stays as it is', async () => {
    const page = await openWithWaiting('milk');
    await page.keyboard.type('bre');
    expect(await waiting(page)).toEqual(['milk']);
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk']);
    await poll(() => field(page).inputValue()).toBe('bre');
    await page.keyboard.type('ad');
    await page.keyboard.press('Enter');
    await poll(() => stored(site)).toEqual(['bread', 'milk']);
  });

  test('a line that the server may have added is not sent again after a day, when it would be added twice', async () => {
    const page = await openWithUnanswered('milk');
    await enter(page, 'tea');
    await poll(() => waiting(page)).toEqual(['milk', 'tea']);
    await page.evaluate('{ const now = Date.now; Date.now = () => now() + 25 * 3_600_000; }');
    relay.restore();
    await poll(() => page.getByRole('alert').textContent()).toContain('This may be in the list already.');
    await poll(() => stored(site)).toEqual(['tea', 'milk']);
    await poll(async () => (await field(page).inputValue()).trim()).toBe('milk');
    expect(await waiting(page)).toEqual([]);
  });

  test.each([
    ['of a field without the focus', 'document.activeElement.blur()'],
    ['after Add', ''],
  ])(
    'the first tap into waiting lines starts a new line, and the next one moves the cursor (%s)',
    async (_, prepare) => {
      const page = await site.openNew('about:blank', { serviceWorkers: 'allow', hasTouch: true });
      await page.goto(relay.url);
      await loseConnection(page);
      await typeLines(page, 'milk', 'bread');
      await poll(() => waiting(page)).toEqual(['milk', 'bread']);
      await page.evaluate(prepare);
      await field(page).tap({ position: { x: 60, y: 20 } });
      await enter(page, 'tea');
      await poll(() => waiting(page)).toEqual(['milk', 'bread', 'tea']);
      await field(page).tap({ position: { x: 60, y: 20 } });
      // Not a second tap on the same place, which would select a word.
      await field(page).tap({ position: { x: 200, y: 50 } });
      await page.keyboard.type(' and oats');
      await poll(() => waiting(page)).toEqual(['milk', 'bread and oats', 'tea']);
      expect(await field(page).inputValue()).toBe('milk\nbread and oats\ntea\n');
    },
  );

  test('the cursor stays where it is when lines leave the field or return to it', async () => {
    const page = await openWithWaiting('milk', 'bread', 'tea');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.type('rye ');
    await poll(() => waiting(page)).toEqual(['milk', 'rye bread', 'tea']);
    relay.restore();
    await poll(() => field(page).inputValue()).toMatch(/^rye bread\n?$/);
    await page.keyboard.type('and white ');
    expect(await field(page).inputValue()).toMatch(/^rye and white bread\n?$/);
    await field(page).fill('');
    await field(page).blur();
    await field(page).focus();
    const lost = Promise.withResolvers<void>();
    await page.route('**/task', (route) => lost.promise.then(() => route.abort()));
    await enter(page, 'oats');
    await page.keyboard.type('brown rice');
    for (let i = 0; i < 4; i += 1) await page.keyboard.press('ArrowLeft');
    lost.resolve();
    await poll(() => field(page).inputValue()).toBe('oats\nbrown rice');
    await page.keyboard.type('basmati ');
    expect(await field(page).inputValue()).toBe('oats\nbrown basmati rice');
  });

  test('what a page types leaves the waiting lines of another page alone', async () => {
    const page = await open();
    const other = await openOther(page);
    await loseConnection(other);
    await typeLines(page, 'milk');
    await poll(() => connection(other)).toContain('1 new task waits on this device.');
    await field(other).focus();
    await other.keyboard.type('bread');
    await other.reload();
    await poll(() => connection(other)).toContain('1 new task waits on this device.');
    expect(await field(other).inputValue()).toBe('bread');
    expect((await field(page).inputValue()).trim()).toBe('milk');
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(await field(other).inputValue()).toBe('bread');
  });

  test('a page sends the lines of a page that is gone', async () => {
    const page = await open();
    const other = await openOther(page);
    await loseConnection(page);
    await typeLines(page, 'milk');
    await poll(() => waiting(page)).toEqual(['milk']);
    await page.close();
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk']);
    await poll(() => notice(other)).toContain('Sent.');
  });

  test('a tick and a line wait in a reopened app if it was killed before they failed', async () => {
    await site.add('bread');
    const page = await open();
    relay.lose('silent');
    await finish(page, 'bread');
    await typeLines(page, 'milk');
    await poll(() => waiting(page)).toEqual(['bread', 'milk']);
    const again = await reopen(page);
    await poll(() => connection(again)).toContain('1 tick and 1 new task wait on this device.');
    expect(await again.locator('[data-waits] .title').textContent()).toBe('bread');
    await poll(() => field(again).inputValue()).toContain('milk');
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk', 'bread']);
    await poll(() => titles(again)).toEqual(['milk', '(bread)']);
    await poll(() => field(again).inputValue()).toBe('');
  });

  test('a tick that has no answer is sent again if the connection was lost meanwhile', async () => {
    await site.add('milk');
    const page = await open();
    await page.clock.install();
    await page.reload();
    await page.route('**/task/1/finish', () => {});
    await finish(page, 'milk');
    await loseConnection(page);
    relay.restore();
    await page.clock.fastForward(20_000);
    await poll(() => connection(page)).toBe('');
    await page.evaluate('stop()');
    await poll(() => notice(page)).toContain('Sent.');
    expect((await site.store.list({ filter: 'finished' })).finished).toBe(1);
  });

  test('a line that fails while a later one waits is sent too, each once', async () => {
    const page = await open();
    await page.clock.install();
    await page.reload();
    await page.route('**/task', () => {});
    await typeLines(page, 'milk');
    await loseConnection(page);
    await enter(page, 'bread');
    await poll(() => waiting(page)).toEqual(['milk', 'bread']);
    await page.evaluate('stop()');
    await poll(async () => (await field(page).inputValue()).trim()).toBe('milk\nbread');
    relay.restore();
    await page.clock.fastForward(20_000);
    await poll(() => stored(site)).toEqual(['bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
    expect(await waiting(page)).toEqual([]);
  });

  test('waiting lines that the user adds while one of them is under way are added once', async () => {
    const page = await openWithWaiting('milk', 'bread');
    const isAsked = Promise.withResolvers<void>();
    const isAdded = Promise.withResolvers<void>();
    await page.route('**/tasks', async (route) => {
      isAsked.resolve();
      await isAdded.promise;
      await route.continue();
    });
    relay.restore();
    await isAsked.promise;
    // The page also asks once after each line, still without a connection.
    await poll(() => connection(page)).not.toContain('no connection');
    await enter(page, 'tea');
    isAdded.resolve();
    await poll(() => field(page).inputValue()).toBe('');
    await poll(() => page.locator('.busy').count()).toBe(0);
    expect((await stored(site)).toSorted()).toEqual(['bread', 'milk', 'tea']);
  });

  test('lines of a page that ended while they returned to the field are shown and added once', async () => {
    const page = await openWithWaiting('milk', 'bread');
    // The page has stored the draft, but the browser has not yet dropped the kept lines.
    await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('waiting');
      opening.onsuccess = () => {
        const reading = opening.result.transaction('operations').objectStore('operations').get('all');
        reading.onsuccess = () => {
          const draft = { title: 'milk\\nbread', keys: JSON.stringify(reading.result) };
          sessionStorage.setItem('drafts', JSON.stringify({ '/task': draft }));
          opening.result.close();
          resolve();
        };
      };
    })`);
    await page.reload();
    await poll(() => connection(page)).toContain('2 new tasks wait on this device.');
    await poll(() => page.getByRole('button', { name: 'Add when online' }).count()).toBe(1);
    expect((await field(page).inputValue()).trim()).toBe('milk\nbread');
    relay.restore();
    await poll(() => stored(site)).toEqual(['bread', 'milk']);
    await poll(() => field(page).inputValue()).toBe('');
  });

  test('30 s without an answer, then both wait and say so', async () => {
    await site.add('bread');
    const page = await open();
    relay.asked.splice(0);
    relay.lose('silent');
    await finish(page, 'bread');
    await typeLines(page, 'milk');
    await poll(() => connection(page)).toMatch(
      /no connection\. 1 tick and 1 new task wait on this device\.$/,
    );
    expect(await page.locator('.complaint').count()).toBe(0);
    expect((await field(page).inputValue()).trim()).toBe('milk');
    // The line did not wait as long as the tick before it.
    expect(relay.asked).not.toContain('POST /task');
    relay.restore();
    await poll(() => stored(site)).toEqual(['milk', 'bread']);
    await poll(() => connection(page)).toBe('');
    await poll(() => titles(page)).toEqual(['milk', '(bread)']);
  });
});

/** Finishes bread and adds milk, which then wait. */
async function tickAndAdd(page: Page) {
  await finish(page, 'bread');
  await field(page).focus();
  await enter(page, 'milk');
  await poll(() => connection(page)).toContain('1 tick and 1 new task wait on this device.');
}

/** Waits until the tick and the new task are saved, and shown as saved. */
async function seeSent(page: Page) {
  await poll(() => stored(site)).toEqual(['milk', 'bread']);
  await poll(() => titles(page)).toEqual(['milk', '(bread)']);
  await poll(() => connection(page)).toBe('');
  await poll(() => field(page).inputValue()).toBe('');
}

test('a killed browser has kept what it said to wait', async () => {
  await site.add('bread');
  const { page, restart } = await openKept();
  relay.lose();
  await tickAndAdd(page);
  const again = await restart();
  await poll(() => connection(again)).toContain('1 tick and 1 new task wait on this device.');
  await poll(() => field(again).inputValue()).toContain('milk');
  relay.restore();
  await seeSent(again);
});

test('a release changed in between loses nothing that waits, and only its files are kept', async () => {
  await site.add('bread');
  const page = await open();
  const releases = (of: Page) => of.evaluate('caches.keys()') as Promise<string[]>;
  const before = await releases(page);
  relay.lose();
  await tickAndAdd(page);
  const folder = await mkdtemp(join(tmpdir(), 'release-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const root = `${import.meta.dirname}/../..`;
  await cp(`${root}/public`, folder, { recursive: true });
  for (const name of ['worker.ts', 'waiting.ts']) await appendFile(join(folder, name), '\nvoid 0;\n');
  const files = publicFiles(folder);
  const later = await startReplica(site.redisUrl, { files, render: views(`${root}/views`, files) });
  onTestFinished(() => later.stop());
  relay.moveTo(later.url);
  onTestFinished(() => relay.moveTo(site.url));
  const again = await reopen(page);
  await poll(() => connection(again)).toContain('1 tick and 1 new task wait on this device.');
  relay.restore();
  await again.reload();
  await seeSent(again);
  await poll(() => releases(again)).not.toEqual(before);
  await poll(() => releases(again).then(({ length }) => length)).toBe(1);
  // The worker keeps a list as it is loaded.
  await again.reload();
  await poll(() => keptPage(again)).toContain('milk');
  relay.lose();
  await again.reload();
  await poll(() => titles(again)).toEqual(['milk', '(bread)']);
});

test('a release without the worker ends it, and the device keeps nothing', async () => {
  const page = await open();
  relay.answers.set('/public/worker.js', { status: 404 });
  // Such a release does not register it, either.
  await page.addInitScript('ServiceWorkerContainer.prototype.register = async () => {};');
  // A page of another release.
  await page.evaluate(`(async () => {
    for (const name of await caches.keys()) await caches.delete(name);
  })()`);
  await page.goto(relay.url);
  await poll(() => kept(page)).toEqual([]);
  await poll(() =>
    page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)'),
  ).toBe(0);
});

test('a release without the worker ends it, even if a file of it was missing at first', async () => {
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  const release = await fetch(relay.url).then((response) => response.text());
  // Pages do not load it themselves.
  const icon = / href="(\/public\/[\da-f]{12}\/mask-512\.png)"/.exec(release)?.[1] ?? '';
  relay.answers.set(icon, { status: 404 });
  await page.goto(relay.url);
  await poll(() => page.evaluate('caches.keys().then(({ length }) => length)')).toBe(1);
  await poll(() => relay.asked.filter((line) => line === `GET ${icon}`).length).toBeGreaterThan(0);
  relay.answers.delete(icon);
  relay.answers.set('/public/worker.js', { status: 404 });
  await page.addInitScript('ServiceWorkerContainer.prototype.register = async () => {};');
  await page.reload();
  await poll(() =>
    page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)'),
  ).toBe(0);
});

test('nothing waits if the storage of the browser is blocked', async () => {
  await site.add('milk');
  const page = await open();
  await page.addInitScript("IDBFactory.prototype.open = () => { throw new Error('blocked'); }");
  await page.reload();
  relay.lose();
  await finish(page, 'milk');
  await poll(() => notice(page)).toMatch(/milk.*(No answer|needs a connection)/);
  expect(await titles(page)).toEqual(['milk']);
  expect(await focused(page)).not.toBe('BODY');
});
