import { isIP } from 'node:net';
import type { Context } from 'hono';
import ip from 'ipaddr.js';

/**
 * Returns the client's address from the proxy's header, or from the connection if the header is not an address. Returns only
 * the /64 network of an IPv6 address, because one client owns the whole network.
 */
export function clientAddress(c: Context): string {
  const stated = c.req.header('x-forwarded-for') ?? '';
  // Ignore an invalid address, which a client could send if there is no proxy.
  const address = isIP(stated) ? stated : (c.env?.incoming?.socket.remoteAddress ?? '');
  if (isIP(address) !== 6) return address;
  const parsed = ip.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : (parsed as ip.IPv6).parts.slice(0, 4).join(':');
}

/** Whether the client has disconnected without a response. */
export function hasLeft(c: Context): boolean {
  return c.env?.outgoing?.destroyed ?? false;
}
