import type { Context } from 'hono';
import { expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const requestFrom = (forwardedFor: string | undefined, remoteAddress?: string) =>
  ({
    req: { header: () => forwardedFor },
    env: { incoming: { socket: { remoteAddress } } },
  }) as unknown as Context;

test.each([
  ['the address in X-Forwarded-For', '192.0.2.1', '127.0.0.1', '192.0.2.1'],
  ["the connection's address without that header", undefined, '127.0.0.1', '127.0.0.1'],
  ["the connection's address if the header is not an address", 'x'.repeat(10_000), '127.0.0.1', '127.0.0.1'],
  ["the connection's address if the header has several", '192.0.2.1, 192.0.2.2', '127.0.0.1', '127.0.0.1'],
  ['the IPv4 address of a dual-stack socket', undefined, '::ffff:192.0.2.1', '192.0.2.1'],
  // 2001:db8:0:1 in decimal.
  ['the /64 network of an IPv6 address', '2001:db8:0:1:2:3:4:5', '::1', '8193:3512:0:1'],
])('identifies a client by %s', (_, forwardedFor, remoteAddress, client) => {
  expect(clientAddress(requestFrom(forwardedFor, remoteAddress))).toBe(client);
});
