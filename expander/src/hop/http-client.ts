import { type Connect, maxIdleSockets, maxSockets } from '@longhand/shared/connector.ts';
import { Connection } from './connection.ts';
import { Exchange, fieldLines, type RequestOptions, type Response } from './exchange.ts';

export interface HttpClientOptions {
  connect: Connect;
  /** Alternating names and values of the headers of every request. */
  headers?: readonly string[];
  /** Connections to an origin; further requests wait. */
  maxConnections?: number;
}

/** The connections to one origin. */
interface Pool {
  url: URL;
  connections: Set<Connection>;
  /** Those that carry no exchange; the one that was used last is taken first. */
  idle: Connection[];
  /** Exchanges that wait because there may be no more connections. */
  waiting: Exchange[];
}

/** A client for heads and beginnings of responses over kept-alive connections, by HTTP/1.1. */
export function httpClient({ connect, headers = [], maxConnections = maxSockets }: HttpClientOptions) {
  const fields = fieldLines(headers);
  const pools = new Map<string, Pool>();
  /** The idle connections to all origins, the one that has been idle longest first. */
  const idle = new Set<Connection>();
  let finished: [Connection, Exchange][] = [];

  const open = (pool: Pool, exchange: Exchange) => {
    const connection = new Connection(pool.url, connect, { finished: finish, closed: remove });
    pool.connections.add(connection);
    connection.send(exchange);
  };

  const finish = (connection: Connection, exchange: Exchange) => {
    if (exchange.idleTime === 0) {
      connection.cut();
      exchange.succeed();
    } else if (finished.push([connection, exchange]) === 1) {
      // Not at once: what else arrives in this turn of the event loop does not answer the next request.
      setImmediate(reuseFinished);
    }
  };

  const reuseFinished = () => {
    const batch = finished;
    finished = [];
    for (const [connection, exchange] of batch) if (!connection.closed) reuse(connection, exchange.idleTime);
    for (const [, exchange] of batch) exchange.succeed();
  };

  const reuse = (connection: Connection, idleTime: number) => {
    const pool = pools.get(connection.origin) as Pool;
    const next = nextWaiting(pool);
    if (next) return connection.send(next);
    connection.cutWhenIdleFor(idleTime);
    pool.idle.push(connection);
    idle.add(connection);
    const [oldest] = idle.size > maxIdleSockets ? idle : [];
    oldest?.cut();
  };

  const remove = (connection: Connection, error: unknown, exchange?: Exchange) => {
    const pool = pools.get(connection.origin) as Pool;
    pool.connections.delete(connection);
    if (idle.delete(connection)) pool.idle.splice(pool.idle.indexOf(connection), 1);
    const next = nextWaiting(pool);
    if (next) open(pool, next);
    else if (pool.connections.size === 0) pools.delete(connection.origin);
    if (!exchange?.wasStale(error)) return exchange?.fail(error);
    // A server that closed one idle connection has most likely closed the others too.
    for (const other of pool.idle.slice()) other.cut();
    exchange.isRepeated = true;
    dispatch(exchange);
  };

  /** Sends `exchange` over an idle connection or a new one. */
  const dispatch = (exchange: Exchange) => {
    const { url, isRepeated } = exchange;
    const { origin } = url;
    let pool = pools.get(origin);
    if (!pool) {
      pool = { url, connections: new Set(), idle: [], waiting: [] };
      pools.set(origin, pool);
    }
    const kept = isRepeated ? undefined : pool.idle.pop();
    if (kept) {
      idle.delete(kept);
      kept.send(exchange);
    } else if (pool.connections.size < maxConnections) {
      open(pool, exchange);
    } else {
      pool.waiting.push(exchange);
    }
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
      dispatch(exchange);
      return exchange.response;
    },
    /** How many origins there are connections to. */
    origins: () => pools.size,
    /** Cuts all connections. */
    close() {
      for (const pool of [...pools.values()]) {
        pool.waiting.length = 0;
        for (const connection of [...pool.connections]) connection.cut();
      }
    },
  };
}

/** Takes the exchange that has waited longest, unless its caller has left. */
function nextWaiting({ waiting }: Pool): Exchange | undefined {
  for (let next = waiting.shift(); next; next = waiting.shift()) if (!next.isSettled) return next;
  return undefined;
}
