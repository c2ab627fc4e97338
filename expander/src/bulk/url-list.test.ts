import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { seed } from '@longhand/shared/testing/random.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxLength } from '../expansion/target.ts';
import { inTurns, readUrls as readBytes, readUrlStream } from './url-list.ts';

const readUrls = (text: string, options?: Parameters<typeof readBytes>[1]) =>
  readBytes(Buffer.from(text), options);

describe('a list of URLs', () => {
  test('skips blank lines but includes them in the numbering', async () => {
    expect(await readUrls('a\n\nb\r\n \t\rc\r')).toEqual([
      [1, 'a'],
      [3, 'b'],
      [5, 'c'],
    ]);
    expect(await readUrls('["a", "", 42, " ", null, ["b"]]')).toEqual([
      [1, 'a'],
      [3, null],
      [5, null],
      [6, null],
    ]);
  });

  test.each([
    ['a host in brackets', '[::1]/x\nhttp://a.example/'],
    ['an unclosed array', '["http://a.example/"\nhttp://a.example/'],
    ['a link in Markdown', '[a](http://a.example/)\nhttp://a.example/'],
  ])('can begin with %s', async (_, text) => {
    expect(await readUrls(text)).toEqual(text.split('\n').map((url, i) => [i + 1, url]));
    await expect(readUrls(text, { isJson: true })).rejects.toThrow('not an array');
  });

  test.each(['', '{"u":"http://a.example/"}', 'http://a.example/', '"http://a.example/"'])(
    'must be an array if its Content-Type is JSON: %j',
    async (text) => {
      await expect(readUrls(text, { isJson: true })).rejects.toThrow(
        'Content-Type says JSON, but the body is not an array.',
      );
      expect(await readUrls(' [] ', { isJson: true })).toEqual([]);
    },
  );

  test('can contain 10,000 URLs with special characters', async () => {
    const urls = Array.from({ length: 10_000 }, (_, i) => `http://a.example/${i}?[,{"\\`);
    for (const text of [urls.join('\n'), JSON.stringify(urls), JSON.stringify(urls, null, 2)])
      expect((await readUrls(text)).map(([, url]) => url)).toEqual(urls);
    expect(await readUrls(`[2001:db8::1]/a,b,c\n\n`.repeat(10_000))).toHaveLength(10_000);
  });

  test.each([
    ['lines', 'x\n'.repeat(10_001)],
    ['an array', JSON.stringify(Array(10_001).fill('x'))],
    ['nested arrays', JSON.stringify([Array(10_001).fill('x')])],
  ])('is limited to 10,000 URLs in %s', async (_, text) => {
    await expect(readUrls(text)).rejects.toThrow(
      'The list has more than 10000 URLs; split it across requests.',
    );
  });
});

test('the memory of a list shrinks with every URL', async () => {
  for (const text of ['ab\nc\n\nd', '["ab", "c", {}, "d"]']) {
    const kept: number[] = [];
    const urls = await readUrls(text);
    const handed = await Array.fromAsync(
      inTurns(
        urls,
        async () => {},
        (left) => kept.push(left),
      ),
    );
    expect(handed.map(([, url]) => url).filter(Boolean)).toEqual(['ab', 'c', 'd']);
    expect([...new Set(kept)]).toEqual([2, 1, 0]);
    expect(urls.map(([, url]) => url)).toEqual(urls.map(() => null));
  }
});

test('any 8 MB list fits into a 32 MB heap', async () => {
  const pieces = ['\n', ' \r\n', 'a\n', '[', '[{},', '["","",'];
  const source = `
    import { readUrls } from './url-list.ts';
    for (const piece of ${JSON.stringify(pieces)})
      await readUrls(Buffer.from(piece.repeat(8_000_000 / piece.length))).then(
        ({ length }) => console.log(length, 'URLs'),
        ({ message }) => console.log(message.split(';')[0]),
      );`;
  const options = ['--max-old-space-size=32', '--input-type=module-typescript', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: import.meta.dirname });
  const tooMany = Array(4).fill('The list has more than 10000 URLs');
  expect(stdout.trim().split('\n')).toEqual(['0 URLs', '0 URLs', ...tooMany]);
});

async function* pieces(bytes: Uint8Array, sizes: Iterable<number> = []) {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

const texts = fc
  .array(fc.constantFrom('\r', '\n', '\r\n', ' ', 'a', 'é', '😀', '[', '"', ',', ']', '1', '://'))
  .map((parts) => parts.join(''));

test('readUrlStream() yields the same URLs as readUrls() for any chunk sizes', async () => {
  const same = fc.asyncProperty(texts, fc.array(fc.nat(5)), async (text, sizes) => {
    const bytes = new TextEncoder().encode(text);
    const urls = await readUrls(new TextDecoder().decode(bytes));
    expect(await Array.fromAsync(readUrlStream(pieces(bytes, sizes)))).toEqual(urls);
  });
  await fc.assert(same, { seed, numRuns: 1_000 });
});

test.each([
  ['UTF-8', Buffer.from('\ufeffhttp://a.example/ü')],
  ['UTF-16', Buffer.from('\ufeffhttp://a.example/ü', 'utf16le')],
  ['big-endian UTF-16', Buffer.from('\ufeffhttp://a.example/ü', 'utf16le').swap16()],
])('readUrlStream() reads %s with a byte order mark, byte by byte', async (_, bytes) => {
  const stream = (async function* () {
    for (const byte of bytes) yield Uint8Array.of(byte);
  })();
  expect(await Array.fromAsync(readUrlStream(stream))).toEqual([[1, 'http://a.example/ü']]);
});

test('readUrlStream() yields a line before the next line arrives', async () => {
  const next = Promise.withResolvers<Uint8Array>();
  const stream = readUrlStream(
    (async function* () {
      yield Buffer.from('\n[::1]/x\nb');
      yield await next.promise;
    })(),
  );
  expect((await stream.next()).value).toEqual([2, '[::1]/x']);
  next.resolve(Buffer.from('c\n'));
  expect((await stream.next()).value).toEqual([3, 'bc']);
});

test('readUrlStream() truncates a huge line to about the maximum URL length', async () => {
  const endless = async function* () {
    for (let i = 0; i < 10_000; i += 1) yield Buffer.from('x'.repeat(1_000));
    yield Buffer.from('\nb\n');
  };
  const [[, first] = [], second] = await Array.fromAsync(readUrlStream(endless()));
  const { length } = `${first}`;
  expect(length).toBeGreaterThan(maxLength);
  expect(length).toBeLessThan(2 * maxLength);
  expect(second).toEqual([2, 'b']);
});
