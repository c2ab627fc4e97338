import { expect, test } from 'vitest';
import { setsLocation } from './script-redirect.ts';

test.each([
  'location.href = "/x"',
  'window.location="x"',
  'document . location . replace("x")',
  'const a = "{"; // {\n self.location.assign(a)',
  'if (a) location\n= b',
])('a script may send a visitor on: %s', (script) => {
  expect(setsLocation(['a()', script])).toBe(true);
});

test.each([
  'function go() { location.href = 1 }',
  'link.location = 1; mylocation = 1',
  'location == 1; location.hash = 1; a = location.href',
  '// location = 1',
  '"location = 1"',
  '/* location = 1',
  'top.location = self.location',
])('a script does not: %s', (script) => {
  expect(setsLocation([script])).toBe(false);
});
