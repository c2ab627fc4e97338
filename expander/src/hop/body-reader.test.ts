import { expect, test } from 'vitest';
import { bodyReader } from './body-reader.ts';

test('a line before a chunk that comes byte by byte is looked at once', () => {
  const started = performance.now();
  for (const filler of [';', '0', ' ', '\r']) {
    const { read } = bodyReader({ 'transfer-encoding': 'chunked' }, 64 * 1_024);
    for (const byte of `1;${filler.repeat(4_000)}`) read(byte);
  }
  expect(performance.now() - started).toBeLessThan(200);
});

test('a line before a chunk may have 4,096 characters', () => {
  const { read, body } = bodyReader({ 'transfer-encoding': 'chunked' }, 64 * 1_024);
  expect(read(`1;${'x'.repeat(4_092)}\r\na\r\n`)).toBe(false);
  expect(read(`1;${'x'.repeat(4_093)}\r\nb\r\n`)).toBe(true);
  expect(`${body()}`).toBe('a');
});
