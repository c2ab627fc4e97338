import type { Context } from 'hono';
import type { Expand } from '../expansion/expand.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { expandRequest } from './api.ts';
import type { Page } from './page.ts';
import { understandPasted } from './pasted.ts';
import { reportError, textResponse } from './responses.ts';

/**
 * `GET /`: the page, with the chain of `u` if there is one, each hop as it is made, so that the visitor sees the chain grow.
 *
 * The response begins with the first hop, or with the end of a chain that has no hop: its error can still become the
 * status. A later error is shown in the page.
 */
export function showPage(expand: Expand, page: Page, onFault: (fault: unknown) => void) {
  return async (c: Context): Promise<Response> => {
    const { u: given = '', exactly, again } = c.req.query();
    const typed = given.trim();
    const u = exactly === undefined ? understandPasted(typed) : typed;
    const bottom = (expansion: Expansion) => page.bottom(u, expansion, c.req.header('x-request-id'));

    const { readable, writable } = new TextEncoderStream();
    const writer = writable.getWriter();
    // When the reader has left, the request's signal ends the chain.
    const write = (html: string) => writer.write(html).catch(() => {});
    const begun = Promise.withResolvers<null>();
    let top = (from: string) => page.top({ u, typed }, from, { begun: true, mistyped: false });
    const onHop = (hop: Hop) => {
      write(top(hop.url) + page.hop(hop));
      top = () => '';
      begun.resolve(null);
    };
    const expanding = expandRequest(c, expand, { u, follow: 'all', again: again !== undefined, onHop });

    const ended = await Promise.race([begun.promise, expanding]);
    if (ended) {
      const { error, longUrl } = ended;
      const mistyped = error?.code === 'invalid_url' || error?.code === 'unsupported_scheme';
      const from = error && !mistyped ? longUrl : null;
      const { status, headers } = reportError(c, error);
      const html = page.top({ u, typed }, from, { begun: false, mistyped }) + bottom(ended);
      return textResponse(html, { status, headers: { ...page.headers, ...headers } });
    }
    expanding
      .then(bottom)
      .catch((fault: unknown) => {
        onFault(fault);
        return page.fault(u);
      })
      .then(write)
      .then(() => writer.close())
      .catch(() => {});
    return new Response(readable, { headers: page.headers });
  };
}
