import type { Context } from 'hono';
import { endedExpansion } from '../expansion/chain.ts';
import { expansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { readParameters } from './api.ts';
import type { Page } from './page.ts';
import { understandPasted } from './pasted.ts';
import { reportError, textResponse } from './responses.ts';

/** `GET /`: the page, with the chain of `u` if there is one. */
export function showPage(expand: Expand, page: Page, onFault: (fault: unknown) => void) {
  return async (c: Context): Promise<Response> => {
    const { u: given = '', exactly, again } = c.req.query();
    const typed = given.trim();
    const u = exactly === undefined ? understandPasted(typed) : typed;
    const trace = async (onHop: (hop: Hop) => void) => {
      try {
        const { signal, client } = readParameters(c);
        return await expand.trace(u, { follow: 'all', signal, client, again: again !== undefined, onHop });
      } catch (error) {
        return endedExpansion(u, expansionError(error));
      }
    };
    const requestId = c.req.header('x-request-id');
    const { body, error } = await streamPage({ page, u, typed, requestId }, trace, onFault);
    const { status, headers } = reportError(c, error);
    const init = { status, headers: { ...page.headers, ...headers } };
    return typeof body === 'string' ? textResponse(body, init) : new Response(body, init);
  };
}

/**
 * Writes the page for `u`, which was understood from what was `typed`, each hop as `trace` makes it, so that the visitor
 * sees the chain grow.
 *
 * Resolves with the first hop, while the rest of `body` follows, or with the end of a chain that has no hop: its
 * `error` can still become the status. A later error is shown in the page.
 */
export async function streamPage(
  {
    page,
    u,
    typed = u,
    requestId,
  }: { page: Page; u: string; typed?: string; requestId?: string | undefined },
  trace: (onHop: (hop: Hop) => void) => Promise<Expansion>,
  onFault: (fault: unknown) => void,
): Promise<{ body: string | ReadableStream<Uint8Array>; error: Expansion['error'] }> {
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  // When the reader has left, the request's signal ends the chain.
  const write = (html: string) => writer.write(html).catch(() => {});
  const begun = Promise.withResolvers<null>();
  let top = (from: string) => page.top({ u, typed }, from, { begun: true, mistyped: false });
  const expanding = trace((hop) => {
    write(top(hop.url) + page.hop(hop));
    top = () => '';
    begun.resolve(null);
  });

  const ended = await Promise.race([begun.promise, expanding]);
  if (ended) {
    const { error } = ended;
    const mistyped = error?.code === 'invalid_url' || error?.code === 'unsupported_scheme';
    const from = error && !mistyped ? ended.longUrl : null;
    return {
      body: page.top({ u, typed }, from, { begun: false, mistyped }) + page.bottom(u, ended, requestId),
      error,
    };
  }
  expanding
    .then((expansion) => page.bottom(u, expansion, requestId))
    .catch((fault: unknown) => {
      onFault(fault);
      return page.fault(u);
    })
    .then(write)
    .then(() => writer.close())
    .catch(() => {});
  return { body: readable, error: null };
}
