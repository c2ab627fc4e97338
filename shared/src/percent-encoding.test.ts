import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { tryDecode } from 'hono/utils/url';
import { expect, test } from 'vitest';
import { seed } from '../testing/random.ts';
import { decode, isEncodedUtf8 } from './percent-encoding.ts';

test('only percent-encoded bytes that are not UTF-8 are found', () => {
  for (const text of ['', '%', '%zz', 'é', '%C3%A9', 'a%25'])
    expect([text, isEncodedUtf8(text)]).toEqual([text, true]);
  for (const text of ['%E9', '%C3x', 'é%FF%']) expect([text, isEncodedUtf8(text)]).toEqual([text, false]);
});

const encode = (bytes: readonly number[]) =>
  bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** Bytes at the limits of the table in RFC 3629, section 4. */
const limits = [
  ...[0x00, 0x25, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf],
  ...[0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff],
];

test('a run of encoded bytes is decoded if Node takes it for UTF-8', () => {
  const differs = (bytes: readonly number[]) => {
    const isText = isUtf8(Buffer.from(bytes));
    // A stray percent sign rules out the short way, by `decodeURIComponent`.
    const text = `%${encode(bytes)}%`;
    const wanted = isText ? `%${Buffer.from(bytes)}%` : text;
    return decode(text) !== wanted || isEncodedUtf8(text) !== isText;
  };
  const rest = [0x7f, 0x80, 0xbf, 0xc0];
  const runs = limits.flatMap((first) => [
    [first],
    ...limits.flatMap((second) => [
      [first, second],
      ...rest.flatMap((third) => [
        [first, second, third],
        ...rest.map((fourth) => [first, second, third, fourth]),
      ]),
    ]),
  ]);
  expect(runs.filter(differs)).toEqual([]);
});

test('a text means the same as to Hono', () => {
  const part = fc.oneof(
    fc.constantFrom('%', 'a', 'é', '%c3%a9', '%25', '%4', '%f0%9f%98%80', '😀'),
    fc.integer({ min: 0, max: 255 }).map((byte) => encode([byte])),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      expect(decode(text)).toBe(tryDecode(text, decodeURIComponent));
    }),
    { seed, numRuns: 2_000 },
  );
});
