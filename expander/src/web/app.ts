import type { Log } from '@longhand/shared/log.ts';
import { annotate, annotateRoute } from '@longhand/shared/observe.ts';
import { type Context, type Handler, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { expandAll, takingTurns } from '../bulk/bulk.ts';
import { bulkBodies } from '../bulk/bulk-body.ts';
import { readUrls } from '../bulk/url-list.ts';
import { type Expand, failedExpansion } from '../expansion/expand.ts';
import type { Expansion, Follow, Hop } from '../expansion/expansion.ts';
import { type ErrorCode, ExpansionError } from '../expansion/expansion-error.ts';
import { soon } from '../expansion/soon.ts';
import { asciiJson } from './ascii-json.ts';
import { callbackCall, isCallbackName } from './callback-name.ts';
import { api, cacheControl, inert, noStore } from './headers.ts';
import type { Page } from './page.ts';
import { streamPage } from './page-stream.ts';

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
  const app = new Hono().use(annotateRoute);
  const inTurn = takingTurns(expand.trace);
  const readBody = bulkBodies();
  const onFault = (fault: unknown) => log.error({ err: fault }, 'fault');

  app.all(
    '/',
    only('GET, HEAD', async (c) => {
      const { u } = parameters(c);
      const { signal } = c.req.raw;
      const trace = async (onHop: (hop: Hop) => void) => expand.trace(u, { follow: 'all', signal, onHop });
      const { body, error } = await streamPage(page, u, trace, log);
      annotate(c, { error: error?.code });
      return new Response(body, {
        status: error ? statuses[error.code] : 200,
        headers: { ...page.headers, ...(error?.code === 'overloaded' ? retryAfter : {}) },
      });
    }),
  );

  const answer = (c: Context, { error, longUrl, freshUntil }: Expansion, cb: string) => {
    const caching = cacheControl(freshUntil);
    if (error) return refusal(c, error, caching);
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
      return soon(expand.trace(u, { follow, client: c.req.raw }), (expansion) => answer(c, expansion, cb));
    }),
  );

  app.all(
    '/api/chain',
    only('GET, HEAD', async (c) => {
      try {
        const { u, follow } = parameters(c);
        return chain(c, u, follow, await expand.trace(u, { follow, signal: c.req.raw.signal }));
      } catch (error) {
        const url = c.req.query('u') ?? '';
        return chain(c, url, 'default', failedExpansion(url, error));
      }
    }),
  );

  app.post('/api/expand', async (c) => {
    const { follow } = parameters(c);
    const { signal } = c.req.raw;
    const { text, release } = await readBody(c.req.raw);
    try {
      const urls = readUrls(text, { json: isJson(c.req.header('Content-Type')) });
      const lines = expandAll(inTurn, urls, { follow, signal, onFault });
      return new Response(ndjson(lines, release), { headers: { ...api, ...noStore, ...unbuffered } });
    } catch (error) {
      release();
      throw error;
    }
  });

  app.all('/api/expand', () => notAllowed('POST'));
  app.notFound(() => new Response('Page Not Found!', { status: 404, headers: inert }));
  app.onError((error, c) => {
    if (error instanceof ExpansionError) return refusal(c, error);
    if (error instanceof HTTPException) {
      return new Response(error.message, { status: error.status, headers: { ...api, ...noStore } });
    }
    onFault(error);
    return new Response('Something went wrong here.', { status: 500, headers: inert });
  });
  return app;
}

/** A script in all but its type: `nosniff` would keep browsers from running it. */
const { 'X-Content-Type-Options': _, ...jsonp } = api;

/** nginx passes each piece on at once. */
const unbuffered = { 'X-Accel-Buffering': 'no' };

function isJson(contentType = ''): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType);
}

/** Each value on a line of its own, made when it is asked for. `ended` is called at the end, or when nobody asks. */
function ndjson(values: AsyncGenerator<unknown>, ended: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await values.next();
          if (!done) return controller.enqueue(encoder.encode(`${asciiJson(value)}\n`));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        ended();
      },
      cancel() {
        ended();
      },
    },
    { highWaterMark: 0 },
  );
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
function chain(c: Context, url: string, follow: Follow, expansion: Expansion): Response {
  const { hops, freshUntil, ...rest } = expansion;
  const report = { url, follow, hops: hops.map(({ freshUntil: _, ...hop }) => hop), ...rest };
  const status = rest.error ? statuses[rest.error.code] : url === '' ? 400 : 200;
  annotate(c, { error: rest.error?.code });
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

function refusal(
  c: Context,
  { code, message }: { code: ErrorCode; message: string },
  caching = noStore,
): Response {
  const status = statuses[code];
  const headers = { ...api, ...caching, ...(status === 503 ? retryAfter : {}) };
  annotate(c, { error: code });
  return new Response(message, { status, headers });
}

/**
 * Any number of empty `u` is none.
 *
 * @throws ExpansionError when one is given twice: the URL in `u` most likely was not percent-encoded.
 */
function parameters(c: Context): { u: string; cb: string; follow: Follow } {
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
