import { expect, test } from 'vitest';
import { fileOf } from './file.ts';

const url = new URL('http://a.example/a/b%20c.pdf?d');
const pdf = { 'content-type': 'application/pdf' };
const named = (name: string) => ({ ...pdf, 'content-disposition': `attachment; filename="${name}"` });

// browsers.browser.test.ts compares more names with Chromium.
const long = named(`invoice.pdf${' '.repeat(110)}.exe`);
test.each([
  ['a Content-Length', { ...pdf, 'content-length': '48000000' }, 'b c.pdf', 48_000_000],
  ['no Content-Length', pdf, 'b c.pdf', null],
  ['a Content-Encoding', { ...pdf, 'content-length': '9', 'content-encoding': 'gzip' }, 'b c.pdf', null],
  ['a long name', long, `invoice.pdf${' '.repeat(68)}…${' '.repeat(36)}.exe`, null],
])('returns the name and size of a file with %s', (_, headers, name, size) => {
  expect(fileOf(url, { status: 200, headers })).toEqual({ name, size });
});
