import { type Connect, maxIdleSockets } from '@longhand/shared/connector.ts';
import { Connection } from './connection.ts';
import { Exchange, fieldLines, type RequestOptions, type Response } from './exchange.ts';

/**
 * A client for heads and beginnings of responses over kept-alive connections, by HTTP/1.1. There are as many connections as
 * requests in flight, which limits bound, and at most 256 idle ones.
 *
 * @param headers alternating names and values of the headers of every request.
 */
export function httpClient(connect: Connect, headers: readonly string[] = []) {
  const fields = fieldLines(headers);
  const connections = new Set<Connection>();
  /** The idle ones: all, the longest idle first, and those of each origin. */
  const idle = new Set<Connection>();
  const idleAt = new Map<string, Connection[]>();
  let finished: [Connection, Exchange][] = [];

  const finish = (connection: Connection, exchange: Exchange) => {
    if (exchange.idleTime === 0) {
      connection.cut();
      exchange.succeed();
    } else if (finished.push([connection, exchange]) === 1) {
      // Not at once: what else arrives in this turn of the event loop does not answer the next request.
      setImmediate(keepFinished);
    }
  };

  const keepFinished = () => {
    const batch = finished;
    finished = [];
    for (const [connection, exchange] of batch) if (!connection.closed) keep(connection, exchange.idleTime);
    for (const [, exchange] of batch) exchange.succeed();
  };

  const keep = (connection: Connection, idleTime: number) => {
    connection.cutWhenIdleFor(idleTime);
    idle.add(connection);
    const others = idleAt.get(connection.origin);
    if (others) others.push(connection);
    else idleAt.set(connection.origin, [connection]);
    const [oldest] = idle.size > maxIdleSockets ? idle : [];
    oldest?.cut();
  };

  /** Takes an idle connection out of those that may be used. */
  const take = (connection: Connection) => {
    const others = idleAt.get(connection.origin) ?? [];
    if (idle.delete(connection)) others.splice(others.lastIndexOf(connection), 1);
    if (others.length === 0) idleAt.delete(connection.origin);
  };

  const remove = (connection: Connection, error: unknown, exchange?: Exchange) => {
    connections.delete(connection);
    take(connection);
    if (!exchange?.wasStale(error)) return exchange?.fail(error);
    // A server that closed one idle connection has most likely closed the others too.
    for (const other of idleAt.get(connection.origin)?.slice() ?? []) other.cut();
    send(exchange);
  };

  /** Sends `exchange` over the connection that was used last, or a new one. */
  const send = (exchange: Exchange) => {
    let connection = idleAt.get(exchange.url.origin)?.at(-1);
    if (connection) {
      take(connection);
    } else {
      connection = new Connection(exchange.url, connect, { finished: finish, closed: remove });
      connections.add(connection);
    }
    connection.send(exchange);
  };

  return {
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
    async request(url: URL, options: RequestOptions): Promise<Response> {
      options.signal?.throwIfAborted();
      const exchange = new Exchange(url, options, fields);
      send(exchange);
      return exchange.response;
    },
    /** Cuts all connections. */
    close() {
      for (const connection of [...connections]) connection.cut();
    },
  };
}
