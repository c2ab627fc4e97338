import { expect, test } from 'vitest';
import { parseRefresh } from './refresh.ts';

// What Chromium does with each of these is in browsers.test.ts.
test.each([
  ['0;url=/m', 0, '/m'],
  ['  0  ;  URL  =  /m  ', 0, '/m  '],
  ['5, url=/m', 5, '/m'],
  ['0 /m', 0, '/m'],
  ['0;/m', 0, '/m'],
  ['0.5;url=/m', 0.5, '/m'],
  ['.5;url=/m', 0.5, '/m'],
  ['0.0.1;url=/m', 0, '/m'],
  ['0..;url=/m', 0, '/m'],
  ["0;url='/m' x", 0, '/m'],
  ["0;url='/m", 0, '/m'],
  [`0;url='/m"`, 0, '/m"'],
  ["0;url='/m'x'y", 0, "/m'x"],
  ["0;'/m'", 0, '/m'],
  ["0;url='", 0, ''],
  ['0;;url=/m', 0, ';url=/m'],
  ['0;url /m', 0, 'url /m'],
  ['0;urlx=/m', 0, 'urlx=/m'],
  ['0\n;\nurl\n=\n/m', 0, '/m'],
  ['0;url=/m\n/n', 0, '/m\n/n'],
  ['0;url=', 0, ''],
  ['0;', 0, ''],
  ['300', 300, ''],
])('%j is a refresh after %f s to %j', (text, delay, url) => {
  expect(parseRefresh(text)).toEqual({ delay, url });
});

test.each([
  '',
  ' ',
  '.',
  '-1;url=/m',
  '+0;url=/m',
  'x;url=/m',
  ';url=/m',
  '0x;url=/m',
  '1e0;url=/m',
  '0url=/m',
  '0:url=/m',
])('%j is none', (text) => {
  expect(parseRefresh(text)).toBeNull();
});

test('a long one takes no longer for its length', () => {
  const started = performance.now();
  for (const filler of [' ', '.', '1', ';', "'", '0;url ']) {
    parseRefresh(filler.repeat(64 * 1024));
    parseRefresh(`0${filler.repeat(64 * 1024)}x`);
  }
  expect(performance.now() - started).toBeLessThan(1_000);
});
