import { expect, test } from 'vitest';
import { readHtml } from './meta-refresh.ts';
import { mayLeadOn } from './script-redirect.ts';

// What Chromium runs is in browsers.browser.test.ts.
const words = 'word '.repeat(50);
const leadsOn = (markup: string) => mayLeadOn(readHtml(markup));

test.each([
  ['window.location="x"', 'document . location . replace("x")'],
  ['const a = "{"; // {\n self.location.assign(a)', 'if (a) location\n= b'],
])('a page with text may send a visitor on by %s, and by %s', (...scripts) => {
  for (const script of scripts)
    expect(leadsOn(`${words}<script>a()</script><script>${script}</script>`)).toBe(true);
});

test.each([
  'link.location = 1; mylocation = 1',
  'location == 1; location.hash = 1; a = location.href',
  '/* location = 1',
])('a page with text does not by %s', (script) =>
  expect(leadsOn(`${words}<script>${script}</script>`)).toBe(false),
);

test('200 visible characters are something to read', () => {
  const page = (count: number) => `<style>${words}</style>${'x '.repeat(count)}<script>a.click()</script>`;
  expect([leadsOn(page(199)), leadsOn(page(200))]).toEqual([true, false]);
});
