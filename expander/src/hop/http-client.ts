import { type Connect, maxSockets } from '@longhand/shared/connector.ts';
import { connections } from './connections.ts';
import { Exchange, fieldLines, type RequestOptions, type Response } from './exchange.ts';

export interface HttpClientOptions {
  connect: Connect;
  /** Alternating names and values of the headers of every request. */
  headers?: readonly string[];
  /** Bytes of response headers. */
  maxHeaderSize: number;
  /** Connections to an origin; further requests wait. */
  maxConnections?: number;
}

export interface HttpClient {
  /**
   * Requests the head of a response, and the beginning of its body; the rest is cut off. A body that breaks off or comes
   * too slowly counts as far as it has come. Resolves once the connection is free for the next request, or cut.
   *
   * A request that fails on a kept-alive connection before any response is sent once more on a new one: the server
   * closed the connection while it was idle, so it never saw the request (RFC 9112 section 9.3.1). Credentials in
   * `url` are not sent.
   *
   * @throws the error of the connection (`ECONNRESET` if it was closed without a response), `ERR_NOT_HTTP`,
   *   `ERR_TWO_LOCATIONS`, `ERR_HEADERS_TOO_LONG`, or the reason of `signal`.
   */
  request(url: URL, options: RequestOptions): Promise<Response>;
  /** The number of origins with connections. */
  origins(): number;
  /** Cuts all connections. */
  close(): void;
}

/** A client for heads and beginnings of responses over kept-alive connections, by HTTP/1.1. */
export function httpClient(options: HttpClientOptions): HttpClient {
  const { connect, headers = [], maxHeaderSize, maxConnections = maxSockets } = options;
  const { dispatch, cutIdle, origins, close } = connections(connect, maxConnections);
  const settings = { fields: fieldLines(headers), maxHeaderSize };

  return {
    request: (url, options) =>
      new Promise((resolve, reject) => {
        if (options.signal?.aborted) return reject(options.signal.reason);
        const sendAgain = (exchange: Exchange) => {
          // A server that closed one idle connection has most likely closed the others too.
          cutIdle(url.origin);
          dispatch(url, exchange);
        };
        dispatch(url, new Exchange(url, options, settings, { resolve, reject, sendAgain }));
      }),
    origins,
    close,
  };
}
