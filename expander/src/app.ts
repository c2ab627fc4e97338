import type { Log } from '@longhand/shared/log.ts';
import { type Context, type Handler, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { asciiJson } from './ascii-json.ts';
import { usualU } from './at-once.ts';
import { expandAll, maxBulkSize, readUrls, takingTurns } from './bulk.ts';
import { callbackCall, isCallbackName } from './callback-name.ts';
import { type Expand, failedExpansion } from './expand.ts';
import type { Expansion, Follow, Hop } from './expansion.ts';
import { type ErrorCode, ExpansionError } from './expansion-error.ts';
import { api, cacheControl, inert, noStore } from './headers.ts';
import type { Page } from './page.ts';
import { streamPage } from './page-stream.ts';
import { soon } from './soon.ts';

const statuses: Record<ErrorCode, number> = {
  invalid_url: 400,
  invalid_callback: 400,
  unsupported_scheme: 400,
  target_refused: 403,
  request_failed: 502,
  timeout: 504,
  overloaded: 503,
  // Nobody reads it; the log does.
  aborted: 499,
};

/** Seconds after which an overloaded expander is worth another try. */
const retryAfter = { 'Retry-After': '1' };

/** The HTTP side of the expander. */
export function createApp(expand: Expand, page: Page, log: Pick<Log, 'error'> = console): Hono {
  const app = new Hono();
  const inTurn = takingTurns(expand.trace);

  app.all(
    '/',
    only('GET, HEAD', async (c) => {
      const { u } = parameters(c);
      const { signal } = c.req.raw;
      const trace = async (onHop: (hop: Hop) => void) => expand.trace(u, { follow: 'all', signal, onHop });
      const { body, error } = await streamPage(page, u, trace, log);
      return new Response(body, {
        status: error ? statuses[error.code] : 200,
        headers: { ...page.headers, ...(error?.code === 'overloaded' ? retryAfter : {}) },
      });
    }),
  );

  const answer = ({ error, longUrl, freshUntil }: Expansion, cb: string) => {
    const caching = cacheControl(freshUntil);
    if (error) return refusal(error, caching);
    if (cb === '') return new Response(longUrl ?? '', { headers: { ...api, ...caching } });
    return new Response(callbackCall(cb, longUrl ?? ''), { headers: { ...jsonp, ...caching } });
  };

  app.all(
    '/api',
    only('GET, HEAD', (c) => {
      const { u, cb, follow } = parameters(c);
      if (u === '') return new Response('`u` argument required.', { headers: { ...api, ...noStore } });
      if (cb !== '' && !isCallbackName(cb)) {
        throw new ExpansionError('invalid_callback', 'The `cb` argument is not the name of a function.');
      }
      return soon(expand.trace(u, { follow, client: c.req.raw }), (expansion) => answer(expansion, cb));
    }),
  );

  app.all(
    '/api/chain',
    only('GET, HEAD', async (c) => {
      try {
        const { u, follow } = parameters(c);
        return chain(u, follow, await expand.trace(u, { follow, signal: c.req.raw.signal }));
      } catch (error) {
        const url = c.req.query('u') ?? '';
        return chain(url, 'default', failedExpansion(url, error));
      }
    }),
  );

  app.post('/api/expand', limitBody, async (c) => {
    const { follow } = parameters(c);
    const urls = readUrls(await c.req.text());
    const lines = expandAll(inTurn, urls, { follow, signal: c.req.raw.signal });
    return new Response(ReadableStream.from(ndjson(lines)), {
      headers: { ...api, ...noStore, ...unbuffered },
    });
  });

  app.all('/api/expand', () => notAllowed('POST'));
  app.notFound(() => new Response('Page Not Found!', { status: 404, headers: inert }));
  app.onError((error) => {
    if (error instanceof ExpansionError) return refusal(error);
    log.error({ err: error }, 'fault');
    return new Response('Something went wrong here.', { status: 500, headers: inert });
  });
  return app;
}

/** A script in all but its type: `nosniff` would keep browsers from running it. */
const { 'X-Content-Type-Options': _, ...jsonp } = api;

/** nginx passes each piece on at once. */
const unbuffered = { 'X-Accel-Buffering': 'no' };

const limitBody = bodyLimit({
  maxSize: maxBulkSize,
  onError: () => {
    const message = `The body is larger than ${maxBulkSize} bytes.`;
    return new Response(message, { status: 413, headers: { ...api, ...noStore } });
  },
});

async function* ndjson(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const value of values) yield encoder.encode(`${asciiJson(value)}\n`);
}

/** One handler for all methods of a path: where there are several, Hono makes promises to go from one to the next. */
function only(methods: string, handler: (c: Context) => Response | Promise<Response>): Handler {
  const allowed = methods.split(', ');
  return (c) => (allowed.includes(c.req.method) ? handler(c) : notAllowed(methods));
}

function notAllowed(methods: string): Response {
  return new Response('Method Not Allowed', { status: 405, headers: { ...inert, Allow: methods } });
}

/** The answer of `/api/chain`: the one that is JSON, its errors too. */
function chain(url: string, follow: Follow, expansion: Expansion): Response {
  const { hops, freshUntil, ...rest } = expansion;
  const report = { url, follow, hops: hops.map(({ freshUntil: _, ...hop }) => hop), ...rest };
  const status = rest.error ? statuses[rest.error.code] : url === '' ? 400 : 200;
  return new Response(asciiJson(report), {
    status,
    headers: {
      ...api,
      'Content-Type': 'application/json',
      ...cacheControl(freshUntil),
      ...(status === 503 ? retryAfter : {}),
    },
  });
}

function refusal({ code, message }: { code: ErrorCode; message: string }, caching = noStore): Response {
  const status = statuses[code];
  const headers = { ...api, ...caching, ...(status === 503 ? retryAfter : {}) };
  return new Response(message, { status, headers });
}

/**
 * Any number of empty `u` is none.
 *
 * @throws ExpansionError when one is given twice: the URL in `u` most likely was not percent-encoded.
 */
function parameters(c: Context): { u: string; cb: string; follow: Follow } {
  const alone = usualU(c.req.url);
  if (alone !== undefined) return { u: alone, cb: '', follow: 'default' };
  const { u = [''], cb = [''], follow = [''] } = c.req.queries();
  if (u.length > 1 && u.some((url) => url.trim() !== '')) {
    throw new ExpansionError(
      'invalid_url',
      'The `u` argument is given more than once; percent-encode the URL in it.',
    );
  }
  if (cb.length > 1)
    throw new ExpansionError('invalid_callback', 'The `cb` argument is given more than once.');
  return { u: u[0]?.trim() ?? '', cb: cb[0] ?? '', follow: follow[0] === 'all' ? 'all' : 'default' };
}
