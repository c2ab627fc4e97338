import { expect, test } from 'vitest';
import { Exchange } from './exchange.ts';

const settings = { fields: '', maxHeaderSize: 16 * 1024 };

test('interim heads count toward the length that a head may have', () => {
  const outcome = { resolve: () => {}, reject: () => {}, sendAgain: () => {} };
  const exchange = new Exchange(new URL('http://a.example/'), { method: 'HEAD' }, settings, outcome);
  const hint = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(3_900)}\r\n\r\n`;
  for (let i = 0; i < 4; i += 1) expect(exchange.receive(hint)).toBe(false);
  expect(() => exchange.receive(hint)).toThrow(expect.objectContaining({ code: 'ERR_HEADERS_TOO_LONG' }));
});
