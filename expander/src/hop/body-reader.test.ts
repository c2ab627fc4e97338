import { expect, test } from 'vitest';
import { bodyReader } from './body-reader.ts';

test('a line before a chunk may have 4,096 characters', () => {
  const { read, body } = bodyReader({ 'transfer-encoding': 'chunked' }, 64 * 1_024);
  expect(read(`1;${'x'.repeat(4_092)}\r\na\r\n`)).toBe(false);
  expect(read(`1;${'x'.repeat(4_093)}\r\nb\r\n`)).toBe(true);
  expect(`${body()}`).toBe('a');
});
