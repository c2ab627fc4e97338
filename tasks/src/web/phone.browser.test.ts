import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testKey } from '../../testing/app.ts';
import {
  animate,
  appeared,
  field,
  focused,
  notice,
  poll,
  titles,
  useBrowser,
} from '../../testing/browser.ts';
import { auth } from './auth.ts';

const open = useBrowser();
const locked = useBrowser({ auth: auth('open sesame', testKey) });
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test('Chromium can read the manifest before the login, and the icons have the declared sizes', async () => {
  const page = await locked.open('/login');
  const session = await page.context().newCDPSession(page);
  const { url, data = '', errors } = await session.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  expect(JSON.parse(data)).toMatchObject({ display: 'standalone', start_url: '/' });
  expect(await page.getAttribute('[rel=manifest]', 'crossorigin')).toBe('use-credentials');
  const sizes = await page.evaluate(`Promise.all(${data}.icons.map(async ({ src, type }) => {
    const response = await fetch(new URL(src, '${url}'));
    const image = Object.assign(new Image(), { src: response.url });
    await image.decode();
    return [response.headers.get('content-type').startsWith(type), image.naturalWidth, image.naturalHeight];
  }))`);
  const any = [true, expect.any(Number), expect.any(Number)];
  expect(sizes).toEqual([any, [true, 192, 192], any, [true, 512, 512]]);
});

/** W3C, Web Application Manifest, section "Icon masks and safe zone": a centered circle with a radius of 40 %. */
test('The maskable icon keeps its mark inside the safe zone, and has no transparent corner', async () => {
  const page = await open.open();
  const [outside, opaque] = (await page.evaluate(`(async () => {
    const image = Object.assign(new Image(), { src: document.querySelector('[rel=apple-touch-icon]').href });
    await image.decode();
    const canvas = new OffscreenCanvas(512, 512).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const { data } = canvas.getImageData(0, 0, 512, 512);
    const ground = data.slice(0, 4);
    let [outside, opaque] = [0, true];
    for (let i = 0; i < data.length; i += 4) {
      const [x, y] = [(i / 4) % 512 - 255.5, Math.floor(i / 2048) - 255.5];
      if (data[i + 3] < 255) opaque = false;
      if (data[i] !== ground[0] && Math.hypot(x, y) > 0.4 * 512) outside += 1;
    }
    return [outside, opaque];
  })()`)) as [number, boolean];
  expect([outside, opaque]).toEqual([0, true]);
});

test.each(['light', 'dark'] as const)('The theme color matches the page (%s)', async (colorScheme) => {
  const page = await open.open('/', { colorScheme });
  const [theme, background] = await page.evaluate<string[]>(`(() => {
    const themes = [...document.querySelectorAll('[name=theme-color]')];
    const theme = themes.find(({ media }) => matchMedia(media).matches).content;
    document.body.style.background = theme;
    return [document.body, document.documentElement].map((part) => getComputedStyle(part).backgroundColor);
  })()`);
  expect(theme).toBe(background);
});

test.each([
  ['title=A+page&text=https%3A%2F%2Fexample.org%2F', 'A page https://example.org/'],
  ['title=A&text=A+https%3A%2F%2Fexample.org%2F&url=https%3A%2F%2Fexample.org%2F', 'A https://example.org/'],
  ['text=milk%0D%0Aand+bread', 'milk and bread'],
])('Shared text (%s) is a draft until the user adds it', async (query, draft) => {
  const page = await open.open('/', phone);
  await field(page).fill('half written');
  await page.goto(`/tasks/new?${query}`);
  await poll(() => field(page).inputValue()).toBe(draft);
  await poll(() => page.evaluate('document.activeElement.selectionStart')).toBe(draft.length);
  expect((await open.store.list({ filter: 'all' })).tasks).toEqual([]);
  await page.getByRole('button', { name: 'Add' }).tap();
  await poll(() => titles(page)).toEqual([draft]);
  expect(await field(page).inputValue()).toBe('half written');
});

test('Edited shared text survives a reload until new text is shared, and Back does not return added text', async () => {
  const page = await open.open('/tasks/new?text=milk', phone);
  await field(page).fill('oat milk');
  await page.reload();
  await poll(() => field(page).inputValue()).toBe('oat milk');
  await page.goto('/tasks/new?text=bread');
  await poll(() => field(page).inputValue()).toBe('bread');
  await page.getByRole('button', { name: 'Add' }).tap();
  await poll(() => titles(page)).toEqual(['bread']);
  await page.goBack();
  expect(await field(page).inputValue()).toBe('');
});

test('The login form can show the password, and shared text opens after the login', async () => {
  const page = await locked.open('/tasks/new?text=milk+%26+bread', phone);
  const password = page.getByLabel('Password');
  await password.fill('open sesame');
  for (const [verb, type] of Object.entries({ Show: 'text', Hide: 'password' })) {
    await page.getByRole('button', { name: `${verb} password` }).tap();
    expect(await password.getAttribute('type')).toBe(type);
  }
  await page.getByRole('button', { name: 'Log in' }).tap();
  await poll(() => field(page).inputValue()).toBe('milk & bread');
});

test('A tap on Add leaves the focus in the field, so that the keyboard stays open', async () => {
  const page = await open.open('/', phone);
  await field(page).fill('milk');
  await page.getByRole('button', { name: 'Add', exact: true }).tap();
  await poll(() => titles(page)).toEqual(['milk']);
  expect(await focused(page)).toBe('title');
});

test('Undo and Close move the focus to the list, because focusing a field would open the keyboard', async () => {
  await open.add('milk');
  const page = await open.open('/', phone);
  await page.getByLabel('Finish: milk').tap();
  await page.getByRole('button', { name: 'Undo' }).tap();
  await poll(() => focused(page)).toBe('list');
  await page.route('**/finish', (route) => route.abort());
  await page.getByLabel('Finish: milk').tap();
  await page.getByRole('button', { name: 'Close' }).tap();
  expect(await focused(page)).toBe('list');
});

type Box = Record<'top' | 'bottom' | 'left' | 'right' | 'height', number>;

/** Returns the bounding boxes of elements or of their text. */
const boxes = (page: Page, selector: string, ofText = false) =>
  page.evaluate(`[...document.querySelectorAll('${selector}')].map((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return (${ofText} ? range : element).getBoundingClientRect().toJSON();
  })`) as Promise<Box[]>;

test('The notice covers no control at the end of the page', async () => {
  await open.add(...Array.from({ length: 30 }, (_, i) => `task ${i}`));
  await open.store.update('2', { finished: 1 }, new Date());
  const page = await open.open('/', phone);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await page.getByLabel('Finish: task 0').tap();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  const [footer, notice] = (await boxes(page, 'footer, #notice')).sort((a, b) => a.top - b.top) as [Box, Box];
  expect(notice.top).toBeGreaterThanOrEqual(footer.bottom);
});

test('The second tap of a double tap on Save does not replace the title that somebody else has saved', async () => {
  await open.add('milk');
  const page = await open.open('/', phone);
  await page.getByLabel('More: milk').tap();
  await page.getByLabel('Edit: milk').tap();
  await page.getByLabel('Title').fill('bread');
  await open.store.update('1', { title: 'oat milk' }, new Date());
  const save = page.locator('.editing .main');
  await animate(page, 0);
  await save.tap();
  await page.locator('.editing .problem').waitFor();
  const [{ left, top }] = (await boxes(page, '.editing .main')) as [Box];
  await page.touchscreen.tap(left + 9, top + 9);
  expect(await page.locator('.editing .problem').count()).toBe(1);
  await animate(page, 1);
  await save.tap();
  await poll(() => titles(page)).toEqual(['bread']);
});

test('A notice lets taps through to what it has just covered, but does not uncover it while a tap is on its way', async () => {
  await open.add('milk', 'bread');
  const page = await open.open('/', phone);
  await appeared(page);
  await animate(page, 0);
  await page.getByLabel('Finish: bread').tap();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  const [{ right, top }] = (await boxes(page, '#notice button')) as [Box];
  const hits = () =>
    page.evaluate(`document.elementFromPoint(${right - 3}, ${top + 9}).matches('#notice, #notice *')`);
  expect(await hits()).toBe(false);
  await animate(page, 1);
  await poll(hits).toBe(true);
  await animate(page, 0);
  await page.getByRole('button', { name: 'Undo' }).tap();
  await poll(() => notice(page)).toContain('Undone');
  expect(await hits()).toBe(true);
  await animate(page, 1);
});

test('A finished row stays until its menu is closed', async () => {
  await open.add('milk', 'bread');
  const page = await open.openNew('/');
  await page.clock.install({ time: 0 });
  // On a slow machine, the list would be at rest before the menu opens.
  await page.clock.pauseAt(60_000);
  await page.getByLabel('Finish: bread').click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.evaluate("document.querySelector('#task-2 details').open = true");
  await page.clock.runFor(5_000);
  expect(await page.locator('#task-2:last-child').count()).toBe(0);
  await page.clock.resume();
  await page.evaluate("document.querySelector('#task-2 details').open = false");
  await page.locator('#task-2:last-child').waitFor();
  await page.route('**/task/1/finish', (route) => route.abort());
  await page.evaluate("document.querySelector('#task-1 details').open = true");
  await page.getByLabel('Finish: milk').click();
  await poll(() => titles(page)).toEqual(['milk', '(bread)']);
});

test('The notice does not cover the menu or the form of a task', async () => {
  await open.add(...Array.from({ length: 30 }, (_, i) => `task ${i}`));
  const page = await open.open('/', phone);
  await page.getByLabel('Finish: task 29').tap();
  await page.locator('#task-30:last-child').waitFor();
  const [notice] = (await boxes(page, '#notice')) as [Box];
  await page.evaluate(
    `scrollBy(0, document.getElementById('task-20').getBoundingClientRect().top - ${notice.top} + 50)`,
  );
  await page.getByLabel('More: task 19').tap();
  const bottom = async (selector: string) => (await boxes(page, selector))[0]?.bottom ?? Infinity;
  expect((await boxes(page, '#notice'))[0]?.top).toBeGreaterThan(await bottom('[open] .actions'));
  await page.getByLabel('Edit: task 19').tap();
  expect((await boxes(page, '#notice'))[0]?.top).toBeGreaterThan(await bottom('.editing .main'));
  await page.getByRole('link', { name: 'Cancel' }).tap();
  await poll(async () => (await boxes(page, '#notice'))[0]?.top).toBe(notice.top);
  expect(await focused(page)).toBe('task-20');
  await page.getByLabel('More: task 19').tap();
  await page.getByRole('button', { name: 'Undo' }).tap();
  await page.getByLabel('Finish: task 29').waitFor();
});

test('The menu of the last visible row scrolls into view', async () => {
  await open.add(...Array.from({ length: 30 }, (_, i) => `task ${i}`));
  const page = await open.open('/', phone);
  await page.evaluate("scrollBy(0, document.getElementById('task-5').getBoundingClientRect().bottom - 840)");
  const [more] = (await boxes(page, '#task-5 summary')) as [Box];
  const [x, y] = [more.left + 9, more.top + 9];
  await appeared(page);
  await page.touchscreen.tap(x, y);
  await poll(async () => (await boxes(page, '[open] .actions'))[0]?.bottom).toBeLessThanOrEqual(844);
  // A second tap in the same place hits no action.
  expect(await page.evaluate(`document.elementFromPoint(${x}, ${y}).matches('.actions *')`)).toBe(false);
});

test.each(['17px', '34px'])('The actions do not cover the title (font size %s)', async (size) => {
  await open.add('קפה', 'a title that fills more than one line on a phone');
  const page = await open.open('/', phone);
  await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
  for (const title of [/^More: a title/, /^More: קפה/]) {
    await page.getByLabel(title).tap();
    await page.evaluate('new Promise(requestAnimationFrame)');
    const [text] = (await boxes(page, 'li:has([open]) .title', true)) as [Box];
    const [actions] = (await boxes(page, '[open] .actions')) as [Box];
    expect(actions.top).toBeGreaterThanOrEqual(text.bottom);
  }
});

test('"Where to?" is 44 px high and does not change the row height', async () => {
  await open.add('https://bit.ly/3xYz', 'milk');
  const page = await open.open('/', phone);
  const [link, where] = await boxes(page, '.title a');
  expect(where?.height).toBeGreaterThanOrEqual(44);
  expect((where?.left ?? 0) - (link?.right ?? 0)).toBeGreaterThanOrEqual(8);
  const [one, other] = await boxes(page, '.tasks > li');
  expect(Math.abs((one?.height ?? 0) - (other?.height ?? 0))).toBeLessThan(2);
});

test('Larger targets do not change the visible gaps between links on phones and desktops', async () => {
  for (const options of [phone, {}]) {
    const page = await open.open('/', options);
    const [all, middle, finished] = (await boxes(page, '.bar nav a', true)) as [Box, Box, Box];
    expect(Math.abs(middle.left - all.right - (finished.left - middle.right))).toBeLessThan(1);
    const [text] = (await boxes(page, 'footer span a', true)) as [Box];
    const or = (await page.evaluate(`(() => {
      const range = document.createRange();
      range.selectNode(document.querySelector('footer span a').nextSibling);
      return range.getBoundingClientRect().toJSON();
    })()`)) as Box;
    expect(Math.abs(or.left - text.right)).toBeLessThan(1);
  }
});
