import { LRUCache } from 'lru-cache';
import { doubtTime } from '../expansion/expansion.ts';
import { type Connect, Connection } from './connection.ts';
import { Exchange, fieldLines, type RequestOptions, type Response } from './exchange.ts';

/** Limits for the cache of origins that sent unsolicited bytes. Times are in milliseconds. */
const strayedLimits = { max: 10_000, ttl: 10 * 60 * 1_000 };

/** Max idle connections to all origins. */
const maxIdle = 256;

/** Connections skip the cooldown if their origin has this many idle connections, enough for 2,500 requests a second. */
const crowd = 128;

/**
 * Creates an HTTP/1.1 client that reads heads and the start of bodies. Other layers limit the requests in flight.
 *
 * Unsolicited bytes may be a late body for an earlier HEAD. When these bytes arrive, the client retries the current request on
 * a new connection. Every later request to that origin uses a new connection.
 *
 * @param headers alternating names and values, for all requests.
 */
export function httpClient(connect: Connect, headers: readonly string[] = []) {
  const fields = fieldLines(headers);
  const connections = new Set<Connection>();
  /** Idle connections, longest idle first. */
  const idle = new Set<Connection>();
  const idleByOrigin = new Map<string, Connection[]>();
  const strayed = new LRUCache<string, true>(strayedLimits);
  let finished: [Connection, Exchange][] = [];

  const finish = (connection: Connection, exchange: Exchange) => {
    if (exchange.idleTime === 0 && !exchange.isInDoubt) {
      connection.close();
      exchange.succeed();
    } else if (finished.push([connection, exchange]) === 1) {
      // Wait, because more bytes may arrive in this turn of the event loop and make the response suspect.
      setImmediate(keepFinished);
    }
  };

  /** Frees all connections before resolving the first response. Freeing them one by one takes about 17% more CPU time. */
  const keepFinished = () => {
    const batch = finished;
    finished = [];
    for (const [connection, { idleTime }] of batch) if (!connection.closed) keep(connection, idleTime);
    for (const [, exchange] of batch)
      if (exchange.shouldRetry()) open(exchange);
      else exchange.succeed();
  };

  const keep = (connection: Connection, idleTime: number) => {
    connection.closeWhenIdleFor(idleTime || doubtTime);
    // The connection stays open only to detect unsolicited bytes.
    if (idleTime === 0) return;
    idle.add(connection);
    const others = idleByOrigin.get(connection.origin);
    if (others) others.push(connection);
    else idleByOrigin.set(connection.origin, [connection]);
    const [oldest] = idle.size > maxIdle ? idle : [];
    oldest?.close();
  };

  const take = (connection: Connection) => {
    const others = idleByOrigin.get(connection.origin) ?? [];
    if (idle.delete(connection)) others.splice(others.lastIndexOf(connection), 1);
    if (others.length === 0) idleByOrigin.delete(connection.origin);
  };

  const remove = (connection: Connection, error: unknown, exchange?: Exchange) => {
    connections.delete(connection);
    take(connection);
    if (connection.source.hasStrayed) strayed.set(connection.origin, true);
    if (exchange?.shouldRetry(error)) open(exchange);
    else exchange?.fail(error);
  };

  const open = (exchange: Exchange) => {
    const connection = new Connection(exchange.url, connect, { finished: finish, closed: remove });
    connections.add(connection);
    connection.send(exchange);
  };

  return {
    /**
     * Requests the head and the start of the body. If the body is truncated or slow, the response contains a part of it.
     * Resolves once the connection is idle or closed. Never sends the credentials of `url`.
     *
     * Retries once if a reused connection fails before the response begins. The server probably closed the idle connection
     * before it received the request (RFC 9112 section 9.3.1).
     *
     * @throws the connection error (`ECONNRESET` if the server closed the connection without a response), `ERR_NOT_HTTP`,
     *   `ERR_AMBIGUOUS`, `ERR_HEADERS_TOO_LONG`, or the signal's reason.
     */
    async request(url: URL, options: RequestOptions): Promise<Response> {
      options.signal?.throwIfAborted();
      const exchange = new Exchange(url, options, fields);
      const others = strayed.has(url.origin) ? [] : (idleByOrigin.get(url.origin) ?? []);
      const isCrowded = others.length >= crowd;
      // Try the connection that has been idle longest, then the latest one, which may be new and need no cooldown.
      const connection = [others[0], others.at(-1)].find((other) => other?.mayCarry(exchange, isCrowded));
      if (connection) {
        take(connection);
        connection.send(exchange);
      } else {
        open(exchange);
      }
      return exchange.response;
    },
    close() {
      for (const connection of [...connections]) connection.close();
    },
  };
}
