import { accessibilityFaults as faults, loadAxe } from '@longhand/shared/testing/accessibility.ts';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testKey } from '../../testing/app.ts';
import { enter, field, focused, notice, pictures, poll, titles, useBrowser } from '../../testing/browser.ts';
import { auth } from './auth.ts';

const password = 'open sesame';
const site = useBrowser({ auth: auth(password, testKey) });

async function logIn(page: Page, typed = password) {
  await poll(() => focused(page)).toBe('password');
  await enter(page, typed);
}

/** Ends the session by deleting the cookie. */
const expire = (page: Page) => page.context().clearCookies({ name: /^login-/ });

/** Presses `Log in` and logs in on the new tab. */
async function logInOnNewTab(page: Page) {
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Log in' }).click();
  const tab = await opened;
  await logIn(tab);
  await field(tab).waitFor();
  await tab.close();
}

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

test('a logout empties what the device keeps of the list', async () => {
  const page = await site.openNew('/', { serviceWorkers: 'allow' });
  await logIn(page);
  const kept = () => page.evaluate('caches.keys()');
  await poll(kept).not.toEqual([]);
  await page.evaluate("localStorage.setItem('ticks', '{}')");
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Password').waitFor();
  await poll(kept).toEqual([]);
  expect(await page.evaluate('localStorage.length')).toBe(0);
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
  await logInOnNewTab(page);
  await field(page).press('Enter');
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
