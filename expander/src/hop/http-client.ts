import type http from 'node:http';
import type { Agents } from '@longhand/shared/agent.ts';
import { connections } from './connections.ts';
import { Exchange, type ExchangeSettings, type RequestOptions, type Response } from './exchange.ts';

/** Node's type of an agent lacks the options that it was made with. */
type KeepAliveAgent = http.Agent & { readonly options: http.AgentOptions };

export interface HttpClientOptions {
  /** Open the connections; their options limit the connections to an origin and how long these may be idle. */
  agents: Agents;
  /** Bytes of response headers. */
  maxHeaderSize: number;
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
   *   `ERR_HEADERS_TOO_LONG`, or the reason of `signal`.
   */
  request(url: URL, options: RequestOptions): Promise<Response>;
  /** The number of origins with connections. */
  origins(): number;
  /** Cuts all connections. */
  close(): void;
}

/** A client for heads and beginnings of responses over kept-alive connections, by HTTP/1.1. */
export function httpClient({ agents, maxHeaderSize }: HttpClientOptions): HttpClient {
  const { dispatch, cutIdle, origins, close } = connections(agents);

  const settingsFor = (protocol: string): ExchangeSettings => {
    const { options } = agents[protocol as keyof Agents] as KeepAliveAgent;
    return {
      maxHeaderSize,
      idleTime: options.timeout as number,
      idleMargin: options.agentKeepAliveTimeoutBuffer as number,
    };
  };
  const settings: Record<string, ExchangeSettings> = {
    'http:': settingsFor('http:'),
    'https:': settingsFor('https:'),
  };

  return {
    request: (url, options) =>
      new Promise((resolve, reject) => {
        if (options.signal?.aborted) return reject(options.signal.reason);
        const sendAgain = (exchange: Exchange) => {
          // A server that closed one idle connection has most likely closed the others too.
          cutIdle(url.origin);
          dispatch(url, exchange);
        };
        dispatch(
          url,
          new Exchange(url, options, settings[url.protocol] as ExchangeSettings, {
            resolve,
            reject,
            sendAgain,
          }),
        );
      }),
    origins,
    close,
  };
}
