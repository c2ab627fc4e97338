import { expect, test } from 'vitest';
import { fileOf } from './file.ts';

const url = new URL('http://a.example/a/b%20c.pdf?d');
const pdf = { 'content-type': 'application/pdf' };
const named = (name: string) => ({ ...pdf, 'content-disposition': `attachment; filename="${name}"` });

// The names that Chromium gives are in browsers.browser.test.ts.
test.each([
  ['its length', { ...pdf, 'content-length': '48000000' }, { name: 'b c.pdf', size: 48_000_000 }],
  ['no length', pdf, { name: 'b c.pdf', size: null }],
  [
    'an encoding',
    { ...pdf, 'content-length': '9', 'content-encoding': 'gzip' },
    { name: 'b c.pdf', size: null },
  ],
  [
    'a long name',
    named(`invoice.pdf${' '.repeat(110)}.exe`),
    { name: `invoice.pdf${' '.repeat(68)}…${' '.repeat(36)}.exe`, size: null },
  ],
])('the name and size of a file: %s', (_, headers, file) => {
  expect(fileOf(url, { status: 200, headers })).toEqual(file);
});
