import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import {
  type Connection,
  type ConnectionHandler,
  type ConnectionsOptions,
  connections,
} from './connections.ts';

/** A response without its body. */
export interface ResponseHead {
  status: number;
  /** By lower-case name, bytes beyond ASCII as Latin-1, like those of Node's own client. */
  headers: IncomingHttpHeaders;
  addressFamily: 4 | 6 | null;
}

export interface HeadOptions {
  method: 'HEAD' | 'GET';
  /** Alternating names and values; `Host` is that of the URL. */
  headers?: string[];
  /** Cancels the request. */
  signal?: AbortSignal | undefined;
}

export interface HttpClient {
  /**
   * Requests the head of a response; a body is cut off. Resolves once the connection is free for the next request.
   *
   * A request that fails on a kept-alive connection before any response is sent once more on a new one: the server
   * closed the connection while it was idle, so it never saw the request (RFC 9112 section 9.3.1). Credentials in
   * `url` are not sent.
   *
   * @throws the error of the connection (`ECONNRESET` if it was closed without a response), or the reason of `signal`.
   */
  head(url: URL, options: HeadOptions): Promise<ResponseHead>;
  /** The number of origins with connections. */
  origins(): number;
  /** Cuts all connections. */
  close(): void;
}

/** A client for the heads of responses, over kept-alive connections. */
export function httpClient(options: ConnectionsOptions): HttpClient {
  const { dispatch, cutIdle, origins, close } = connections(options);

  const send = (url: URL, { method, headers, signal }: HeadOptions) =>
    new Promise<ResponseHead>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const exchange = new Exchange(method, signal, resolve, reject);
      const { origin, pathname, search } = url;
      // `reset: false` keeps the connection after HEAD too.
      dispatch(origin, { path: pathname + search, method, headers, reset: false }, exchange);
    });

  return {
    head(url, options) {
      return send(url, options).catch(async (error) => {
        if (!(error instanceof StaleConnection)) throw error;
        // A server that closed one idle connection has most likely closed the others too.
        await cutIdle(url.origin);
        return send(url, options).catch((second) => {
          throw second instanceof StaleConnection ? second.cause : second;
        });
      });
    },
    origins,
    close,
  };
}

/** The server had closed the kept-alive connection. */
class StaleConnection extends Error {}

/** One request and its response. */
class Exchange implements ConnectionHandler {
  connection?: Connection;
  readonly #method: string;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (head: ResponseHead) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #head: ResponseHead | undefined;
  #started = false;

  constructor(
    method: string,
    signal: AbortSignal | undefined,
    resolve: (head: ResponseHead) => void,
    reject: (error: unknown) => void,
  ) {
    this.#method = method;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener('abort', this.#abort);
  }

  readonly #abort = () => {
    this.#fail(this.#signal?.reason);
    if (this.#controller) this.#controller.abort(this.#signal?.reason);
    else this.connection?.cut();
  };

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
    if (this.#signal?.aborted) controller.abort(this.#signal.reason);
  }

  onResponseStarted() {
    this.#started = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders) {
    // Interim responses (RFC 9110 section 15.2) precede the final one.
    if (status < 200) return;
    this.#head = {
      status,
      headers: combined(headers),
      addressFamily: this.connection?.addressFamily ?? null,
    };
    if (this.#method === 'HEAD') return;
    this.#succeed();
    controller.abort(new Error('the body is not needed'));
  }

  onResponseData() {}

  onResponseEnd() {
    this.connection?.whenFree(() => this.#succeed());
  }

  onResponseError(_controller: unknown, cause: NodeJS.ErrnoException) {
    const error = this.#started ? cause : asReset(cause);
    const stale = this.connection?.used && !this.#started && lost.has(error.code ?? '');
    this.#fail(
      stale ? new StaleConnection('the server had closed the idle connection', { cause: error }) : error,
    );
  }

  #succeed() {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#resolve(this.#head as ResponseHead);
  }

  #fail(error: unknown) {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#reject(error);
  }
}

/** Fields that are not lists: the first one counts. */
const single = new Set(['age', 'date', 'expires', 'location']);

/** Joins the lines of each field (RFC 9110 section 5.3). */
function combined(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  for (const name in headers) {
    const lines = headers[name];
    if (Array.isArray(lines)) headers[name] = single.has(name) ? lines[0] : lines.join(', ');
  }
  return headers;
}

/** The codes of a connection that the other side has closed. */
const lost = new Set(['ECONNRESET', 'EPIPE']);

/** Gives a connection that was closed before any response Node's own code, with a reset or without. */
function asReset(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  if (error.code !== 'UND_ERR_SOCKET') return error;
  return Object.assign(new Error('the connection was closed without an answer', { cause: error }), {
    code: 'ECONNRESET',
  });
}
