import { LRUCache } from 'lru-cache';
import { doubtTime } from '../expansion/expansion.ts';
import { Connection } from './connection.ts';
import type { Connect } from './connector.ts';
import { Exchange, fieldLines, type RequestOptions, type Response } from './exchange.ts';

/** How many origins that sent unsolicited bytes are remembered, and for how many milliseconds. */
const memory = { max: 10_000, ttl: 10 * 60 * 1_000 };

/** Idle connections kept over all origins; the oldest makes room. */
const maxIdle = 256;

/** With this many idle connections to one origin, none has to rest: at 50 ms each, enough for 2,500 requests a second. */
const maxResting = 128;

/**
 * A client for heads and beginnings of responses over kept-alive connections, by HTTP/1.1. There are as many connections as
 * requests in flight, which limits bound, and at most 256 idle ones.
 *
 * Bytes that follow the response to a HEAD, however late, may be a body that should not be there. The request that meets
 * them is sent again on a new connection. From then on, each request to their origin gets a new connection.
 *
 * @param headers alternating names and values of the headers of every request.
 */
export function httpClient(connect: Connect, headers: readonly string[] = []) {
  const fields = fieldLines(headers);
  const connections = new Set<Connection>();
  /** The idle ones: all, the longest idle first, and those of each origin. */
  const idle = new Set<Connection>();
  const idleAt = new Map<string, Connection[]>();
  const strayed = new LRUCache<string, true>(memory);
  let finished: [Connection, Exchange][] = [];

  const finish = (connection: Connection, exchange: Exchange) => {
    if (exchange.idleTime === 0 && !exchange.isInDoubt) {
      connection.cut();
      exchange.succeed();
    } else if (finished.push([connection, exchange]) === 1) {
      // Not at once: more bytes in this turn of the event loop would show that the response cannot be trusted.
      setImmediate(keepFinished);
    }
  };

  const keepFinished = () => {
    const batch = finished;
    finished = [];
    for (const [connection, exchange] of batch) if (!connection.closed) keep(connection, exchange.idleTime);
    for (const [, exchange] of batch)
      if (exchange.mayRepeat()) open(exchange);
      else exchange.succeed();
  };

  const keep = (connection: Connection, idleTime: number) => {
    connection.cutWhenIdleFor(idleTime || doubtTime);
    // It stays open only to show whether it strays.
    if (idleTime === 0) return;
    idle.add(connection);
    const others = idleAt.get(connection.origin);
    if (others) others.push(connection);
    else idleAt.set(connection.origin, [connection]);
    const [oldest] = idle.size > maxIdle ? idle : [];
    oldest?.cut();
  };

  /** Removes a connection from the idle ones. */
  const take = (connection: Connection) => {
    const others = idleAt.get(connection.origin) ?? [];
    if (idle.delete(connection)) others.splice(others.lastIndexOf(connection), 1);
    if (others.length === 0) idleAt.delete(connection.origin);
  };

  const remove = (connection: Connection, error: unknown, exchange?: Exchange) => {
    connections.delete(connection);
    take(connection);
    if (connection.source.hasStrayed) strayed.set(connection.origin, true);
    if (exchange?.mayRepeat(error)) open(exchange);
    else exchange?.fail(error);
  };

  /** Sends `exchange` over a new connection. */
  const open = (exchange: Exchange) => {
    const connection = new Connection(exchange.url, connect, { finished: finish, closed: remove });
    connections.add(connection);
    connection.send(exchange);
  };

  return {
    /**
     * Requests the head of a response, and the beginning of its body; the rest is cut off. If a body breaks
     * off or is too slow, the part that arrived counts. Resolves once the connection is free for the next request, or cut.
     *
     * A request that fails on a kept-alive connection before any response is sent once more on a new one: the server
     * closed the connection while it was idle, so it never saw the request (RFC 9112 section 9.3.1). Credentials in
     * `url` are not sent.
     *
     * @throws the error of the connection (`ECONNRESET` if it was closed without a response), `ERR_NOT_HTTP`,
     *   `ERR_AMBIGUOUS`, `ERR_HEADERS_TOO_LONG`, or the reason of `signal`.
     */
    async request(url: URL, options: RequestOptions): Promise<Response> {
      options.signal?.throwIfAborted();
      const exchange = new Exchange(url, options, fields);
      const others = strayed.has(url.origin) ? [] : (idleAt.get(url.origin) ?? []);
      const isCrowded = others.length >= maxResting;
      // The connection that has been idle longest, or the last one used, which may be new.
      const connection = [others[0], others.at(-1)].find((other) => other?.mayCarry(exchange, isCrowded));
      if (connection) {
        take(connection);
        connection.send(exchange);
      } else {
        open(exchange);
      }
      return exchange.response;
    },
    /** Cuts all connections. */
    close() {
      for (const connection of [...connections]) connection.cut();
    },
  };
}
