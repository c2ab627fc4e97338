import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { Refusal } from './refusals.ts';

/** Anything that answers a request: a Hono application, or a plain object. */
export interface Application {
  fetch(request: Request, env: HttpBindings): Response | Promise<Response>;
  /** Asked first, where there is one. */
  atOnce?: AtOnce | undefined;
  /** Told of what is answered without asking it, and of the connection where that is the end of it. */
  refused?: ((refusal: Refusal, connection?: Duplex) => void) | undefined;
}

/** Answers what takes no more than a look, before a `Request` is made of it; undefined is left to `fetch`. */
export type AtOnce = (incoming: IncomingMessage) => Answer | undefined;

export interface Answer {
  status: number;
  /** With its `Content-Length`. */
  headers: Record<string, string>;
  /** In ASCII. */
  body: string;
  /** The path that was asked, in which nothing varies. */
  route: string;
}

export interface ServeOptions {
  host: string;
  /** 0 lets the system pick a free one; `Serving.port` says which. */
  port: number;
  /** Aborted, the server stops: see `serve`. */
  signal: AbortSignal;
  /** Headers of the answers to what is not even HTTP, which no application sees. */
  clientErrorHeaders?: Record<string, string>;
  /** Milliseconds in which a request has to arrive with its body, else it is 408; at least the 15 s of its headers. */
  requestTimeout?: number;
}

export interface Serving {
  host: string;
  port: number;
  /** Where it answers: `http://127.0.0.1:3000/`. */
  url: string;
  /** Resolves once the last connection is closed. */
  closed: Promise<void>;
}

/** Milliseconds an idle connection is kept: longer than the proxy's 60 s, so that the proxy closes first. */
const keepAliveTimeout = 75_000;
/** Milliseconds in which the headers of a request have to arrive. */
const headersTimeout = 15_000;
/** Milliseconds in which the whole of a request has to arrive, where nothing else is said: a form on a slow line. */
const usualRequestTimeout = 30_000;
/** Milliseconds after the stop until idle connections are closed: time for the proxy to see `Connection: close`. */
const idleGrace = 2_000;
/** Milliseconds after the stop until every connection is cut. */
const hardStop = 10_000;
/** Bytes of request line and headers: a target of 8 KiB, percent-encoded threefold, and its usual company. */
const maxHeaderSize = 64 * 1024;

/**
 * Serves `app` over HTTP until `signal` is aborted, then drains: it stops listening at once, answers what
 * is still asked with `Connection: close`, closes idle connections after 2 s and the rest after 10 s.
 *
 * @throws the error of `listen`: the port is taken, the address is not this machine's.
 */
export async function serve(app: Application, options: ServeOptions): Promise<Serving> {
  const { host, port, signal, clientErrorHeaders = {}, requestTimeout = usualRequestTimeout } = options;
  const refuse = (error: unknown) => {
    const status = error instanceof RequestError ? 400 : 500;
    app.refused?.({ status, reason: error instanceof Error ? error.message : String(error) });
    return new Response(`${status} ${STATUS_CODES[status]}`, { status, headers: clientErrorHeaders });
  };
  const fetching = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    hostname: host,
    errorHandler: refuse,
  });
  const listener: RequestListener = (incoming, outgoing) => {
    const answer = app.atOnce?.(incoming);
    if (!answer) return fetching(incoming, outgoing);
    const { status, headers, body } = answer;
    outgoing.writeHead(status, headers);
    outgoing.end(body, 'latin1');
  };
  const server: Server = createServer(
    // Node's own answer to a missing Host would lack the service's headers; the listener sees to it.
    {
      maxHeaderSize,
      keepAliveTimeout,
      requestTimeout,
      headersTimeout,
      requireHostHeader: false,
    },
    listener,
  );
  // An `Expect` of something else than 100-continue: answered as if it had not been asked (RFC 9110 section 10.1.1).
  server.on('checkExpectation', listener);
  answerClientErrors(server, app, clientErrorHeaders);

  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, host, listening.resolve);
  await listening.promise;

  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  if (signal.aborted) drain(server);
  else signal.addEventListener('abort', () => drain(server), { once: true });
  const address = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return { host, port: address.port, url: `http://${name}:${address.port}/`, closed };
}

function drain(server: Server): void {
  // http.Server's own close() cuts idle connections that the proxy is about to use; net.Server's does not.
  NetServer.prototype.close.call(server);
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
  const timers: NodeJS.Timeout[] = [
    setTimeout(() => {
      server.closeIdleConnections();
      timers.push(setInterval(() => server.closeIdleConnections(), 100));
    }, idleGrace),
    setTimeout(() => server.closeAllConnections(), hardStop),
  ];
  server.once('close', () => timers.forEach(clearTimeout));
}

/** Answers a malformed or oversized request as Node does, with the service's own headers. */
function answerClientErrors(server: Server, app: Application, headers: Record<string, string>): void {
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy();
    const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
    // Who closes in the middle of a request has gone away, which is no error.
    const gone = error.code === 'HPE_INVALID_EOF_STATE';
    if (!gone) app.refused?.({ status, reason: error.code ?? error.message }, socket);
    const words = `${status} ${STATUS_CODES[status]}`;
    socket.end(`HTTP/1.1 ${words}\r\n${lines.join('')}Content-Length: ${words.length}\r\n\r\n${words}`);
  });
}
