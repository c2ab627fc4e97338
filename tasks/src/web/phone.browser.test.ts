import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { testKey } from '../../testing/app.ts';
import { field, poll, titles, useBrowser } from '../../testing/browser.ts';
import { auth } from './auth.ts';

const open = useBrowser();
const locked = useBrowser({ auth: auth('open sesame', testKey) });
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test('Before the login Chromium reads the manifest, and its icons have their sizes', async () => {
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

/** W3C, Web Application Manifest, section "Icon masks and safe zone": a circle of 40 % of the width around the centre. */
test('A mask leaves the maskable icon its mark, and has no transparent corner', async () => {
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

test.each([
  ['light', 'rgb(250, 249, 246)', '#faf9f6'],
  ['dark', 'rgb(19, 24, 22)', '#131816'],
] as const)('The theme colour is that of the page: %s', async (colorScheme, background, theme) => {
  const page = await open.open('/', { colorScheme });
  expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(background);
  const shown =
    "[...document.querySelectorAll('[name=theme-color]')].find(({ media }) => matchMedia(media).matches)";
  expect(await page.evaluate(`${shown}.content`)).toBe(theme);
});

test.each([
  ['title=A+page&text=https%3A%2F%2Fexample.org%2F', 'A page https://example.org/'],
  [
    'title=A+page&text=A+page+https%3A%2F%2Fexample.org%2F&url=https%3A%2F%2Fexample.org%2F',
    'A page https://example.org/',
  ],
  ['text=milk%0D%0Aand+bread', 'milk and bread'],
])('What is shared by %s is a draft until somebody adds it', async (query, draft) => {
  const page = await open.open('/', phone);
  await field(page).fill('half written');
  await page.goto(`/tasks/new?${query}`);
  await poll(() => field(page).inputValue()).toBe(draft);
  expect((await open.store.list({ filter: 'all' })).tasks).toEqual([]);
  await page.getByRole('button', { name: 'Add' }).tap();
  await poll(() => titles(page)).toEqual([draft]);
  expect(await field(page).inputValue()).toBe('half written');
});

test('What is shared before the login is a draft after it', async () => {
  const page = await locked.open('/tasks/new?text=milk+%26+bread', phone);
  await page.getByLabel('Password').fill('open sesame');
  await page.getByRole('button', { name: 'Log in' }).tap();
  await poll(() => field(page).inputValue()).toBe('milk & bread');
});

test('The password is shown on request', async () => {
  const page = await locked.open('/login', phone);
  const type = () => page.getByLabel('Password').getAttribute('type');
  await page.getByRole('button', { name: 'Show password' }).tap();
  expect(await type()).toBe('text');
  await page.getByRole('button', { name: 'Hide password' }).tap();
  expect(await type()).toBe('password');
});

test('Once the finished tasks are cleared, their list says that there are none', async () => {
  const page = await open.open('/?filter=finished');
  expect(await page.locator('.empty').textContent()).toContain('No finished tasks.');
});

interface Box {
  left: number;
  right: number;
  height: number;
}

/** The boxes of elements, or of their texts. */
const boxes = (page: Page, selector: string, ofText = false) =>
  page.evaluate(`[...document.querySelectorAll('${selector}')].map((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return (${ofText} ? range : element).getBoundingClientRect().toJSON();
  })`) as Promise<Box[]>;

test('"Where to?" is 44 px high and apart from the link beside it, in a row as high as the others', async () => {
  await open.add('https://bit.ly/3xYz', 'milk');
  const page = await open.open('/', phone);
  const [link, where] = await boxes(page, '.title a');
  expect(where?.height).toBeGreaterThanOrEqual(44);
  expect((where?.left ?? 0) - (link?.right ?? 0)).toBeGreaterThanOrEqual(8);
  const [one, other] = await boxes(page, '.tasks > li');
  expect(Math.abs((one?.height ?? 0) - (other?.height ?? 0))).toBeLessThan(2);
});

test('A tapped title is edited where it stands, in a field 44 px high', async () => {
  await open.add('milk');
  const page = await open.open('/', phone);
  await page.getByLabel('More: milk').tap();
  await page.getByRole('link', { name: 'Edit: milk' }).tap();
  const [field] = await boxes(page, '.editing textarea');
  expect(field?.height).toBeGreaterThanOrEqual(44);
  expect(await page.evaluate("getComputedStyle(document.querySelector('.editing textarea')).textAlign")).toBe(
    'start',
  );
});

test('The gaps between links are as wide as they look, for a finger and a mouse', async () => {
  for (const options of [phone, {}]) {
    const page = await open.open('/', options);
    const [all, middle, finished] = (await boxes(page, '.bar nav a', true)) as [Box, Box, Box];
    expect(Math.abs(middle.left - all.right - (finished.left - middle.right))).toBeLessThan(1);
    const [text] = (await boxes(page, 'footer span a', true)) as [Box];
    const [between] = (await page.evaluate(`(() => {
      const range = document.createRange();
      range.selectNode(document.querySelector('footer span a').nextSibling);
      return [range.getBoundingClientRect().toJSON()];
    })()`)) as [Box];
    expect(Math.abs(between.left - text.right)).toBeLessThan(1);
  }
});
