import type { Context } from 'hono';
import type { Expand } from '../expansion/expand.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { readParameters } from './api.ts';
import type { Page } from './page.ts';
import { reportError, textResponse } from './responses.ts';

/** `GET /`: the page, with the chain of `u` if there is one. */
export function showPage(expand: Expand, page: Page, onFault: (fault: unknown) => void) {
  return async (c: Context): Promise<Response> => {
    const { u, signal, client } = readParameters(c);
    const trace = (onHop: (hop: Hop) => void) => expand.trace(u, { follow: 'all', signal, client, onHop });
    const requestId = c.req.header('x-request-id');
    const { body, error } = await streamPage({ page, u, requestId }, trace, onFault);
    const { status, headers } = reportError(c, error);
    const init = { status, headers: { ...page.headers, ...headers } };
    return typeof body === 'string' ? textResponse(body, init) : new Response(body, init);
  };
}

/**
 * Writes the page for `u`, each hop as `trace` makes it, so that the visitor sees the chain grow.
 *
 * Resolves with the first hop, while the rest of `body` follows, or with the end of a chain that has no hop: its
 * `error` can still become the status. A later error is shown in the page.
 */
export async function streamPage(
  { page, u, requestId }: { page: Page; u: string; requestId?: string | undefined },
  trace: (onHop: (hop: Hop) => void) => Promise<Expansion>,
  onFault: (fault: unknown) => void,
): Promise<{ body: string | ReadableStream<Uint8Array>; error: Expansion['error'] }> {
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  // When the reader has left, the request's signal ends the chain.
  const write = (html: string) => writer.write(html).catch(() => {});
  const begun = Promise.withResolvers<null>();
  write(page.top(u, { begun: true, mistyped: false }));
  const expanding = trace((hop) => {
    write(page.hop(hop));
    begun.resolve(null);
  });

  const ended = await Promise.race([begun.promise, expanding]);
  if (ended) {
    const { error } = ended;
    const mistyped = error?.code === 'invalid_url' || error?.code === 'unsupported_scheme';
    return { body: page.top(u, { begun: false, mistyped }) + page.bottom(u, ended, requestId), error };
  }
  expanding
    .then((expansion) => page.bottom(u, expansion, requestId))
    .catch((fault: unknown) => {
      onFault(fault);
      return page.fault;
    })
    .then(write)
    .then(() => writer.close())
    .catch(() => {});
  return { body: readable, error: null };
}
