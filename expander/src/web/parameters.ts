import type { Context } from 'hono';
import { isOwnRequest } from '../expansion/cdn-loop.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Follow } from '../expansion/expansion.ts';

export interface Parameters {
  /** The URL to expand; empty if it is absent. */
  u: string;
  /** The name of the callback; empty if it is absent. */
  cb: string;
  follow: Follow;
}

/**
 * Reads the query. Any number of empty `u` counts as none.
 *
 * @throws ExpansionError if `u` or `cb` is given twice: the URL in `u` most likely was not percent-encoded. Also if an
 *   expander asks for an expansion: URLs that nest its own address would keep it busy with itself.
 */
export function readParameters(c: Context): Parameters {
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
  return { u: url, cb: cb[0] ?? '', follow: follow[0] === 'all' ? 'all' : 'default' };
}
