import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readUrls } from './url-list.ts';

describe('a list of URLs', () => {
  test('keeps the number of each line, blank ones counted and passed over', () => {
    expect(readUrls('\ufeffa\n\nb\r\n \t\rc\r')).toEqual([
      [1, 'a'],
      [3, 'b'],
      [5, 'c'],
    ]);
    expect(readUrls('["a", "", 42, " ", null, ["b"]]')).toEqual([
      [1, 'a'],
      [3, 42],
      [5, null],
      [6, ['b']],
    ]);
  });

  test.each([
    ['a host in brackets', '[::1]/x\nhttp://a.example/'],
    ['an array without end', '["http://a.example/"\nhttp://a.example/'],
    ['a link in Markdown', '[a](http://a.example/)\nhttp://a.example/'],
  ])('may begin with %s, which fails alone', (_, text) => {
    expect(readUrls(text)).toEqual(text.split('\n').map((url, i) => [i + 1, url]));
    expect(() => readUrls(text, { json: true })).toThrow('not an array');
  });

  test.each(['', '{"u":"http://a.example/"}', 'http://a.example/', '"http://a.example/"'])(
    'that is declared to be JSON is an array, and not %j',
    (text) => {
      expect(() => readUrls(text, { json: true })).toThrow(
        'Content-Type says JSON, but the body is not an array.',
      );
    },
  );

  test('that is declared to be JSON may be an empty array', () => {
    expect(readUrls(' [] ', { json: true })).toEqual([]);
  });

  test('may begin with many lines that are hosts in brackets', () => {
    expect(readUrls('[2001:db8::1]/a,b,c\n'.repeat(10_000))).toHaveLength(10_000);
  });

  test('has as many URLs as may be, whatever is in them', () => {
    const urls = Array.from({ length: 10_000 }, (_, i) => `http://a.example/${i}?[,{"\\`);
    for (const text of [urls.join('\n'), JSON.stringify(urls), JSON.stringify(urls, null, 2)]) {
      expect(readUrls(text).map(([, url]) => url)).toEqual(urls);
    }
    expect(readUrls(`${urls.join('\n\n')}\n\n\n`)).toHaveLength(10_000);
  });

  test.each([
    ['lines', 'x\n'.repeat(10_001)],
    ['an array', JSON.stringify(Array(10_001).fill('x'))],
    ['an array in arrays', JSON.stringify([Array(10_001).fill('x')])],
  ])('has no more than 10 000: %s', (_, text) => {
    expect(() => readUrls(text)).toThrow('There are more than 10000 URLs; send them in several requests.');
    expect(readUrls(text, { max: Number.POSITIVE_INFINITY })).not.toEqual([]);
  });
});

test.each([
  ['line ends', '\n', '0 URLs'],
  ['blank lines', ' \r\n', '0 URLs'],
  ['lines', 'a\n', 'more than 10000'],
  ['arrays in arrays', '[', 'more than 10000'],
  ['objects', '[{},', 'more than 10000'],
  ['empty strings', '["","",', 'more than 10000'],
])('8 MB of %s are read in a heap of 32 MB', async (_, piece, result) => {
  const source = `
    import { readUrls } from './url-list.ts';
    try { console.log(readUrls(${JSON.stringify(piece)}.repeat(8_000_000 / ${piece.length})).length, 'URLs'); }
    catch (error) { console.log(error.message); }`;
  const options = ['--max-old-space-size=32', '--input-type=module-typescript', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: import.meta.dirname });
  expect(stdout).toContain(result);
});
