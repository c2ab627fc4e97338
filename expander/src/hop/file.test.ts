import { expect, test } from 'vitest';
import { fileOf } from './file.ts';
import { readDocument } from './html-document.ts';
import { readHtml } from './meta-refresh.ts';

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

test.each(['a ', '=?gb18030?q?a?= ', 'a;b=', "a;filename*=x''"])(
  'parses the longest head faster than a large page: %j',
  (part) => {
    const field = `attachment; filename=${part.repeat(16_000 / part.length)}`;
    const head = { status: 200, headers: { ...pdf, 'content-disposition': field } };
    const timed = (work: () => void) => {
      const start = performance.now();
      work();
      return performance.now() - start;
    };
    // Measure alternately, so that a busy machine slows both measurements.
    const times = Array.from({ length: 20 }, () => ({
      head: timed(() => [readDocument(url, head, Buffer.alloc(0)), fileOf(url, head)]),
      page: timed(() => readHtml('<nobr>'.repeat(10_000))),
    }));
    const fastest = (of: 'head' | 'page') => Math.min(...times.map((time) => time[of]));
    expect(fastest('head')).toBeLessThan(fastest('page'));
  },
);
