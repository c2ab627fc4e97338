import { isIP } from 'node:net';
import type { Context } from 'hono';
import ip from 'ipaddr.js';
import { ExpansionError } from '../expansion/errors.ts';
import { cdnId, type Follow } from '../expansion/expansion.ts';

/**
 * Reads what a request asks for, and for whom. Any number of empty `u` counts as none.
 *
 * @throws ExpansionError if `u` or `cb` is given twice: the URL in `u` most likely was not percent-encoded. Also if an
 *   expander asks for an expansion: URLs that nest its own address would keep it busy with itself.
 */
export function readParameters(c: Context) {
  const { u = [''], cb = [''], follow = [''] } = c.req.queries();
  if (u.length > 1 && u.some((url) => url.trim() !== '')) {
    const message = 'The `u` argument is given more than once; percent-encode the URL in it.';
    throw new ExpansionError('invalid_url', message);
  }
  if (cb.length > 1) {
    throw new ExpansionError('invalid_callback', 'The `cb` argument is given more than once.');
  }
  const url = u[0]?.trim() ?? '';
  if ((url !== '' || c.req.method === 'POST') && isOwnRequest(c.req.header('CDN-Loop'))) {
    throw new ExpansionError('target_refused', 'An expander does not expand the address of an expander.');
  }
  return {
    /** The URL to expand; empty if it is absent. */
    u: url,
    /** The name of the callback; empty if it is absent. */
    cb: cb[0] ?? '',
    follow: (follow[0] === 'all' ? 'all' : 'default') as Follow,
    /** Aborted when the client leaves. */
    signal: c.req.raw.signal,
    client: clientOf(c),
  };
}

/** Whether a `CDN-Loop` field names an expander: then the request was made to expand a URL, and must not expand another. */
export function isOwnRequest(cdnLoop = ''): boolean {
  const members = cdnLoop.replace(/"(?:[^"\\]|\\.)*"/g, '').split(',');
  return members.some((member) => member.split(';', 1)[0]?.trim().toLowerCase() === cdnId);
}

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
