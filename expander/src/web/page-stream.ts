import type { Context } from 'hono';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import type { ExpandRequest } from './api.ts';
import type { Page } from './page.ts';
import { linksIn } from './pasted.ts';
import { reportError, textResponse } from './responses.ts';

/**
 * `GET /`: the page. With `u` it streams each hop of the chain, so the visitor sees the chain grow.
 *
 * The response starts at the first hop, or at the end of a chain without hops, whose error becomes the status. The page
 * reports a later error itself.
 */
export function showPage(expandRequest: ExpandRequest, page: Page, onFault: (fault: unknown) => void) {
  return async (c: Context): Promise<Response> => {
    const { u, url, text, title, exactly, again } = c.req.query();
    // Other apps share links in the last three; most put the link into the text.
    const typed = [u, url, text, title].map((given) => given?.trim()).find(Boolean) ?? '';
    const links = exactly === undefined ? linksIn(typed) : [typed];
    // The visitor chooses one of several links.
    const link = links.length === 1 ? `${links}` : '';
    const requestId = c.req.header('x-request-id');
    const top = (from: string | null, state: { begun: boolean; mistyped: boolean }) =>
      page.top({ u: link || typed, typed, from, ...state, proxied: requestId !== undefined });
    const result = (expansion: Expansion) => page.result(link, expansion, requestId);

    const { readable, writable } = new TextEncoderStream();
    const writer = writable.getWriter();
    // If the reader leaves, the request's signal ends the chain.
    const write = (html: string) => writer.write(html).catch(() => {});
    const begun = Promise.withResolvers<null>();
    const hops: Hop[] = [];
    const onHop = (hop: Hop) => {
      hops.push(hop);
      if (hops.length === 1) write(top(hop.url, { begun: true, mistyped: false }));
      write(page.hop(hops));
      begun.resolve(null);
    };
    const expanding = expandRequest(c, { u: link, follow: 'all', again: again !== undefined, onHop });

    const ended = await Promise.race([begun.promise, expanding]);
    if (ended) {
      const { end, error, longUrl } = ended;
      const mistyped = error?.code === 'invalid_url' || error?.code === 'unsupported_scheme';
      const from = mistyped ? null : longUrl;
      const { status, headers } = reportError(c, error);
      const found = links.length > 1 ? page.links(links) : page.intro();
      const html = top(from, { begun: false, mistyped }) + (end.code === 'empty' ? found : result(ended));
      return textResponse(html, { status, headers: { ...page.headers, ...headers } });
    }
    expanding
      .then(result)
      .catch((fault: unknown) => {
        onFault(fault);
        return page.fault(link);
      })
      .then(write)
      .then(() => writer.close())
      .catch(() => {});
    return new Response(readable, { headers: page.headers });
  };
}
