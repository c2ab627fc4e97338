import type { Context } from 'hono';
import { expect, test } from 'vitest';
import { clientOf } from './api.ts';

const request = (forwardedFor: string | undefined, remoteAddress?: string) =>
  ({
    req: { header: () => forwardedFor },
    env: { incoming: { socket: { remoteAddress } } },
  }) as unknown as Context;

test.each([
  ['the address that the proxy states', '192.0.2.1', '127.0.0.1', '192.0.2.1'],
  ['else the address of the connection', undefined, '127.0.0.1', '127.0.0.1'],
  ['the connection, if what is stated is not an address', 'x'.repeat(10_000), '127.0.0.1', '127.0.0.1'],
  ['the connection, if several addresses are stated', '192.0.2.1, 192.0.2.2', '127.0.0.1', '127.0.0.1'],
  ['IPv4 on a socket for both families', undefined, '::ffff:192.0.2.1', '192.0.2.1'],
  // In decimal: 2001:db8:0:1.
  ['the /64 network of an IPv6 address', '2001:db8:0:1:2:3:4:5', '::1', '8193:3512:0:1'],
])('a client is %s', (_, forwardedFor, remoteAddress, client) => {
  expect(clientOf(request(forwardedFor, remoteAddress))).toBe(client);
});
