import type { Log } from '@longhand/shared/log.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import type { Page } from './page.ts';

/**
 * Writes the page for `u`, each hop as `trace` makes it, so that the chain grows before everybody's eyes.
 *
 * It resolves with the first hop, the rest of `body` under way, or with the end of a chain that has no hop:
 * `error` is that end's and may still become a status. What fails later is told in the page.
 */
export async function streamPage(
  page: Page,
  u: string,
  trace: (onHop: (hop: Hop) => void) => Promise<Expansion>,
  log: Pick<Log, 'error'>,
): Promise<{ body: string | ReadableStream<Uint8Array>; error: Expansion['error'] }> {
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  // The reader may be gone; then the request's signal ends the chain.
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
    return { body: page.top(u, { begun: false, mistyped }) + page.bottom(u, ended), error };
  }
  expanding
    .then((expansion) => page.bottom(u, expansion))
    .catch((fault: unknown) => {
      log.error({ err: fault }, 'fault');
      return page.fault;
    })
    .then(write)
    .then(() => writer.close())
    .catch(() => {});
  return { body: readable, error: null };
}
