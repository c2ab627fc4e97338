import { type Context, type Env, Hono } from 'hono';
import { clientAddress, hasLeft } from './client-address.ts';
import { annotate } from './observe.ts';
import { type Parameters, readQuery } from './parameters.ts';
import type { Pieces } from './pieces.ts';
import type { Turns } from './turns.ts';

type Text = string | Uint8Array<ArrayBuffer>;

/** What a handler returns. `createRoutes` makes the response in the client's turn, so that no handler can respond without one. */
export interface LazyResponse {
  /** 200 by default. */
  status?: number;
  headers: Record<string, string>;
  /** Makes the body. Each piece of a stream is made in a turn of its own, once the client has taken the pieces before. */
  body: (() => Text) | Pieces | null;
}

type Result<Value> = Value | Promise<Value>;

type Handler<E extends Env> = (c: Context<E>) => Result<LazyResponse>;

/** Returns a response instead of the handler's, or nothing. */
type Check<E extends Env> = (c: Context<E>) => Result<LazyResponse | undefined>;

/** The application without the methods that would register a handler past the turns. */
export type App<E extends Env = Env> = Pick<Hono<E>, 'fetch' | 'request' | 'routes'>;

/**
 * Creates an application in which every request takes its client's turn on the event loop twice: before anything of it is read,
 * and before its response is made.
 */
export function createRoutes<E extends Env>(turns: Turns) {
  const app = new Hono<E>({ getPath });
  const turnOf = (c: Context<E>): Promise<void> | undefined => turns(() => [clientAddress(c)]);

  const respond = (c: Context<E>, response: LazyResponse): Result<Response> => {
    const waiting = turnOf(c);
    return waiting ? waiting.then(() => make(c, response)) : make(c, response);
  };
  const make = (c: Context<E>, { status = 200, headers, body }: LazyResponse): Response => {
    if (body === null) return new Response(null, { status, headers });
    if (typeof body !== 'function') return new Response(streamed(c, body), { status, headers });
    if (hasLeft(c)) return disconnected();
    const text = body();
    // Node computes the length for GET only.
    const length = `${typeof text === 'string' ? Buffer.byteLength(text) : text.length}`;
    return new Response(text, { status, headers: { ...headers, 'Content-Length': length } });
  };
  const streamed = (c: Context<E>, pieces: Pieces) => {
    if (c.req.method !== 'HEAD' && !hasLeft(c)) return inTurns(pieces, () => turnOf(c));
    // Nobody will read the stream.
    pieces.return?.().catch(() => {});
    return null;
  };
  const checks: Check<E>[] = [];
  /** Runs the checks and the handler in the client's turns. */
  const withTurns = (route: string, handler: Handler<E>) => async (c: Context<E>) => {
    annotate(c, { route });
    (c as Context).set('turns', turns);
    const waiting = turnOf(c);
    if (waiting) {
      await waiting;
      if (hasLeft(c)) return disconnected();
    }
    // In this turn, because handlers use it after a response of Redis, too.
    (c as Context).set('query', readQuery(c.req.url));
    for (const check of checks) {
      const early = await check(c);
      if (early) return respond(c, early);
    }
    return respond(c, await handler(c));
  };
  const on = (method: string) => (route: string, handler: Handler<E>) => {
    app.on(method, route, withTurns(route, handler));
  };

  return {
    app: app as App<E>,
    get: on('GET'),
    post: on('POST'),
    put: on('PUT'),
    delete: on('DELETE'),
    /** Adds a handler for all methods. */
    all(route: string, handler: Handler<E>): void {
      app.all(route, withTurns(route, handler));
    },
    /** Adds a check that precedes all handlers, and may return a response instead. */
    check(check: Check<E>): void {
      checks.push(check);
    },
    notFound(handler: Handler<E>): void {
      app.notFound(withTurns('/*', handler));
    },
    onError(handler: (error: Error, c: Context<E>) => Result<LazyResponse>): void {
      app.onError(async (error, c) => respond(c, await handler(error, c)));
    },
  };
}

export type Routes<E extends Env> = ReturnType<typeof createRoutes<E>>;

/**
 * Waits for the client's turn, for work after the request or between the parts of long work.
 *
 * @throws Error if the client has disconnected
 */
export async function takeTurn(c: Context): Promise<void> {
  const turns: Turns = c.get('turns');
  const waiting = turns(() => [clientAddress(c)]);
  if (!waiting) return;
  await waiting;
  if (hasLeft(c)) throw new Error('The client has disconnected.');
}

/** Returns the parameters of a request's query. Hono would throw and catch an error for each stray percent sign. */
export const queryOf = (c: Context): Parameters => c.get('query');

/** Only the log shows this status (see docs/operate.md). */
const disconnected = () => new Response(null, { status: 499 });

/** Returns the decoded path. Keeps a malformed path as it is, because Hono would throw and catch an error for each malformed byte. */
function getPath({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const [path = ''] = url.slice(start).split(/[?#]/, 1);
  if (!path.includes('%')) return path;
  try {
    // Handlers decode parameters of the path once more. Keep `%25` encoded, or they would read `%2541` as `A` instead of `%41`.
    return decodeURI(path.replaceAll('%25', '%2525'));
  } catch {
    return path;
  }
}

const encoder = new TextEncoder();

/** Makes each piece in a turn, and only once the client has taken the pieces before. */
function inTurns(pieces: Pieces, turn: () => Promise<void> | undefined) {
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const { done, value: piece } = await pieces.next();
        if (done) return stream.close();
        const waiting = turn();
        if (waiting) await waiting;
        const text = piece();
        stream.enqueue(typeof text === 'string' ? encoder.encode(text) : text);
      },
      async cancel() {
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
