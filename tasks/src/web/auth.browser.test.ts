import { accessibilityFaults as faults, loadAxe } from '@longhand/shared/testing/accessibility.ts';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { testKey } from '../../testing/app.ts';
import {
  drafts,
  enter,
  field,
  focused,
  notice,
  pictures,
  poll,
  titles,
  useBrowser,
  waiting,
} from '../../testing/browser.ts';
import { startRelay } from '../../testing/relay.ts';
import { auth } from './auth.ts';

const password = 'open sesame';
const site = useBrowser({ auth: auth(password, testKey) });

async function logIn(page: Page, typed = password) {
  await poll(() => focused(page)).toBe('password');
  await enter(page, typed);
}

/** Ends the session by deleting the cookie. */
const expire = (page: Page) => page.context().clearCookies({ name: /^login-/ });

/** Presses `Log in` and logs in on the new tab. @returns the tab. */
async function openNewTab(page: Page) {
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Log in' }).click();
  const tab = await opened;
  await logIn(tab);
  await field(tab).waitFor();
  return tab;
}

const logInOnNewTab = async (page: Page) => (await openNewTab(page)).close();

/** Logs out, and checks that the list is hidden. */
async function logOut(page: Page) {
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Password').waitFor();
  await page.goto('/');
  await page.getByLabel('Password').waitFor();
  expect(await page.content()).not.toContain('milk');
}

test('Login, an expired session and logout work without scripts', async () => {
  const page = await site.open('/?filter=open', { javaScriptEnabled: false });
  await logIn(page, 'wrong');
  await poll(() => page.getByRole('alert').textContent()).toBe('Wrong password.');
  await logIn(page);
  await field(page).fill('milk');
  expect(page.url()).toContain('/?filter=open');
  await expire(page);
  await page.keyboard.press('Enter');
  await poll(() => page.locator('h1').textContent()).toBe('You are logged out, so nothing was changed.');
  await logInOnNewTab(page);
  await page.reload();
  await poll(() => titles(page)).toEqual(['milk']);
  await logOut(page);
});

test('a list that arrives after the logout is not kept', async () => {
  const relay = await startRelay(site.url);
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  await page.goto(relay.url);
  await logIn(page);
  const kept = () => page.evaluate('caches.keys()');
  // The worker's last request for a new release.
  const isKept = () => poll(() => relay.asked).toContain('HEAD /public/worker.js');
  await isKept();
  const late = Promise.withResolvers<void>();
  relay.held.set('/', late.promise);
  relay.asked.splice(0);
  await page.evaluate("navigator.serviceWorker.controller.postMessage('a later version')");
  await poll(() => relay.asked).toContain('GET /');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Password').waitFor();
  await poll(kept).toEqual([]);
  relay.held.clear();
  late.resolve();
  await isKept();
  await poll(kept).toEqual([]);
  relay.stop();
});

test('a page whose session has ended says so, and does not say that the connection is lost', async () => {
  const page = await site.open();
  await logIn(page);
  await field(page).waitFor();
  await page.evaluate(`
    window.lines = [];
    new MutationObserver(() => lines.push(document.getElementById('connection').textContent))
      .observe(document.getElementById('connection'), { childList: true });`);
  const shown = () => page.locator('#connection').textContent();
  await expire(page);
  const again = () => page.evaluate("dispatchEvent(new Event('online'))");
  await again();
  await poll(() => notice(page)).toContain('You are logged out.');
  await poll(shown).toBe('');
  await page.evaluate('lines.splice(0)');
  const refused = page.waitForResponse('**/tasks/partial*');
  await again();
  await refused;
  expect(await page.evaluate('lines')).toEqual([]);
});

test('a logout empties what the device keeps, and asks first if something waits', async () => {
  const relay = await startRelay(site.url);
  await site.add('milk');
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  await page.goto(relay.url);
  await logIn(page);
  const kept = () => page.evaluate('caches.keys()');
  await poll(kept).not.toEqual([]);
  const connection = () => page.locator('#connection').textContent();
  relay.answers.set('/tasks/1', { status: 429 });
  relay.lose();
  await page.getByLabel('Finish: milk').click();
  await poll(connection).toContain('1 tick waits on this device.');
  const logOut = page.getByRole('button', { name: 'Log out' });
  await logOut.click();
  await poll(() => notice(page)).toContain('Logging out needs a connection.');
  relay.restore();
  await poll(connection).toBe('1 tick waits on this device.');
  const asked: string[] = [];
  page.once('dialog', (dialog) => {
    asked.push(dialog.message());
    return dialog.dismiss();
  });
  await logOut.click();
  await poll(() => asked).toEqual(['1 tick waits on this device. Delete this and log out?']);
  expect(await waiting(page)).toEqual(['milk']);
  await field(page).fill('eggs');
  await poll(() => drafts(page)).toEqual(['eggs']);
  page.once('dialog', (dialog) => dialog.accept());
  await logOut.click();
  await page.getByLabel('Password').waitFor();
  await poll(kept).toEqual([]);
  expect(await waiting(page)).toEqual([]);
  expect(await drafts(page)).toEqual([]);
  relay.stop();
});

test('Back to the login without a connection leads to the list', async () => {
  const relay = await startRelay(site.url);
  await site.add('milk');
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  await page.goto(relay.url);
  await logIn(page);
  await poll(() => page.evaluate("caches.match('/').then((list) => list !== undefined)")).toBe(true);
  relay.lose();
  await page.goBack();
  await poll(() => page.locator('#connection').textContent()).toContain('no connection');
  expect([page.url(), await titles(page)]).toEqual([relay.url, ['milk']]);
  relay.restore();
  await expire(page);
  await page.goto(relay.url);
  await page.getByLabel('Password').waitFor();
  await poll(() => page.evaluate('caches.keys()')).toEqual([]);
  relay.stop();
});

test('a page hears changes as soon as it is opened after a login, although another page holds the stream', async () => {
  const page = await site.openNew('about:blank');
  const { clock } = page.context();
  await clock.install();
  await page.goto('/');
  await logIn(page);
  await field(page).waitFor();
  // No page connects again on its own.
  await clock.pauseAt(Date.now() + 60_000);
  await expire(page);
  await page.evaluate("dispatchEvent(new Event('online'))");
  await poll(() => notice(page)).toContain('You are logged out');
  const tab = await openNewTab(page);
  await site.add('milk');
  await poll(() => titles(tab)).toEqual(['milk']);
  await poll(() => titles(page)).toEqual(['milk']);
});

test('what waits when the session has ended is sent after a login, and not before', async () => {
  const relay = await startRelay(site.url);
  onTestFinished(() => relay.stop());
  await site.add('milk');
  const page = await site.openNew('about:blank', { serviceWorkers: 'allow' });
  await page.goto(relay.url);
  await logIn(page);
  await field(page).waitFor();
  relay.lose();
  await page.getByLabel('Finish: milk').click();
  await poll(() => page.locator('#connection').textContent()).toContain('1 tick waits on this device.');
  await expire(page);
  relay.restore();
  await poll(() => notice(page)).toContain('You are logged out.');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Delete: milk' }).click();
  await poll(() => notice(page)).toBe('You are logged out. Log in Close');
  await logInOnNewTab(page);
  await poll(async () => (await site.store.list({ filter: 'finished' })).finished).toBe(1);
  await poll(() => notice(page)).not.toContain('logged out');
  expect(relay.asked.filter((line) => line === 'PUT /tasks/1').length).toBeLessThan(5);
});

test('axe finds no violation on the login pages', async () => {
  const page = await site.pageForAll();
  await loadAxe(page);
  await page.goto('/');
  expect(await faults(page, 'login', pictures)).toEqual([]);
  await logIn(page, 'wrong');
  await page.getByRole('alert').waitFor();
  expect(await faults(page, 'login, wrong password', pictures)).toEqual([]);
  await logIn(page);
  await field(page).waitFor();
  expect(await faults(page, 'list with a password', pictures)).toEqual([]);
  await site.add('milk');
  await poll(() => titles(page)).toEqual(['milk']);
  await logOut(page);
});

test('The list reports an expired session and keeps typed text during the login', async () => {
  const page = await site.open();
  await logIn(page);
  await page.waitForURL(/\/$/);
  await expire(page);
  await page.evaluate("dispatchEvent(new Event('online'))");
  await poll(() => notice(page)).toContain('You are logged out');
  await logInOnNewTab(page);
  await site.add('from elsewhere');
  await poll(() => titles(page)).toEqual(['from elsewhere']);
  await poll(() => notice(page)).not.toContain('Log in');
  await field(page).fill('milk');
  await expire(page);
  await page.keyboard.press('Enter');
  await poll(() => notice(page)).toBe('You are logged out. Log in Close');
  expect(await field(page).inputValue()).toBe('milk\n');
  // The notice disappears after the login; an alert beside the field would not.
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await waiting(page)).toEqual(['milk']);
  await logInOnNewTab(page);
  await poll(() => titles(page)).toEqual(['milk', 'from elsewhere']);
  expect(await field(page).inputValue()).toBe('');
  await page.goto('/tasks/new');
  await field(page).fill('tea');
  await expire(page);
  await page.keyboard.press('Enter');
  await logInOnNewTab(page);
  await page.reload();
  await poll(() => titles(page)).toEqual(['tea', 'milk', 'from elsewhere']);
  expect(await page.evaluate('sessionStorage.drafts')).toBe('{}');
});

test('The end of the session is reported once, and never as a lost connection', async () => {
  const page = await site.openNew('/');
  await logIn(page);
  await field(page).waitFor();
  await page.clock.install();
  await page.reload();
  await expire(page);
  // The event stream is still open.
  await enter(page, 'milk');
  await poll(() => notice(page)).toBe('You are logged out. Log in Close');
  await page.evaluate(`said = [];
    new MutationObserver(() => said.push(notice.textContent)).observe(notice, { childList: true })`);
  for (let i = 0; i < 3; i += 1) {
    const refused = page.waitForResponse(/\/login/);
    await page.clock.fastForward(21_000);
    await site.add('bread');
    await refused;
  }
  expect(await page.evaluate('said')).toEqual([]);
});
