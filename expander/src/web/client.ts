import { isIP } from 'node:net';
import type { Context } from 'hono';
import ip from 'ipaddr.js';

/**
 * The client of a request, for limits: its address as the proxy states it, else that of the connection. For IPv6 it is
 * the /64 network, as one client has all addresses of that.
 */
export function clientOf(c: Context): string {
  const address = c.req.header('x-forwarded-for') ?? c.env?.incoming?.socket.remoteAddress ?? '';
  if (isIP(address) !== 6) return address;
  const parsed = ip.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : (parsed as ip.IPv6).parts.slice(0, 4).join(':');
}
