import { expect, test, vi } from 'vitest';
import { Exchange } from './exchange.ts';
import * as responseHead from './response-head.ts';

vi.mock(import('./response-head.ts'), { spy: true });

const settings = { fields: '', maxHeaderSize: 16 * 1024 };

test('a head that arrives byte by byte is parsed a few times, not once per byte', async () => {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number }>();
  const outcome = { resolve, reject, sendAgain: () => {} };
  const exchange = new Exchange(new URL('http://a.example/'), { method: 'HEAD' }, settings, outcome);
  const head = `HTTP/1.1 301 Moved\r\n${'a:\r\n'.repeat(3_000)}Location: /x\r\n\r\n`;
  const complete = [...head].map((byte) => exchange.receive(byte));
  expect(complete.indexOf(true)).toBe(head.length - 1);
  exchange.succeed();
  expect(await promise).toMatchObject({ status: 301, headers: { location: '/x' } });
  expect(vi.mocked(responseHead.parseHead).mock.calls.length).toBeLessThan(25);
});

test('interim heads count toward the length that a head may have', () => {
  const outcome = { resolve: () => {}, reject: () => {}, sendAgain: () => {} };
  const exchange = new Exchange(new URL('http://a.example/'), { method: 'HEAD' }, settings, outcome);
  const hint = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(3_900)}\r\n\r\n`;
  for (let i = 0; i < 4; i += 1) expect(exchange.receive(hint)).toBe(false);
  expect(() => exchange.receive(hint)).toThrow(expect.objectContaining({ code: 'ERR_HEADERS_TOO_LONG' }));
});
