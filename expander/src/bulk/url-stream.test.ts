import { seed } from '@longhand/shared/testing/random.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxLength } from '../expansion/target.ts';
import { readUrls } from './url-list.ts';
import { readUrlStream } from './url-stream.ts';

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

test('a stream of URLs is read like a list, wherever it is cut', async () => {
  const same = fc.asyncProperty(texts, fc.array(fc.nat(5)), async (text, sizes) => {
    const bytes = new TextEncoder().encode(text);
    const whole = new TextDecoder().decode(bytes);
    expect(await Array.fromAsync(readUrlStream(pieces(bytes, sizes)))).toEqual(
      readUrls(whole, { max: Number.POSITIVE_INFINITY }),
    );
  });
  await fc.assert(same, { seed, numRuns: 1_000 });
});

test('a line is there before the next one arrives', async () => {
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

test('a line without end is cut, but stays too long for a URL', async () => {
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
