import { LRUCache } from 'lru-cache';
import { doubtTime } from '../expansion/expansion.ts';
import { Connection } from './connection.ts';
import type { Connect } from './connector.ts';
import { Exchange, fieldLines, type RequestOptions, type Response } from './exchange.ts';

/** Limits for the list of origins that sent unsolicited bytes. */
const memory = { max: 10_000, ttl: 10 * 60 * 1_000 };

/** Idle connections to all origins. */
const maxIdle = 256;

/** With this many idle connections to an origin, they need not rest. This allows 2,500 requests a second. */
const maxResting = 128;

/**
 * An HTTP/1.1 client for heads and the beginnings of bodies. Other layers limit its requests in flight.
 *
 * Bytes after the response to HEAD may be a late body. The client retries a request that receives such bytes on a new
 * connection. From then on it opens a new connection for each request to that origin.
 *
 * @param headers alternating names and values, for every request.
 */
export function httpClient(connect: Connect, headers: readonly string[] = []) {
  const fields = fieldLines(headers);
  const connections = new Set<Connection>();
  /** Idle connections: all, the longest idle first, and by origin. */
  const idle = new Set<Connection>();
  const idleAt = new Map<string, Connection[]>();
  const strayed = new LRUCache<string, true>(memory);
  let finished: [Connection, Exchange][] = [];

  const finish = (connection: Connection, exchange: Exchange) => {
    if (exchange.idleTime === 0 && !exchange.isInDoubt) {
      connection.cut();
      exchange.succeed();
    } else if (finished.push([connection, exchange]) === 1) {
      // Wait, because more bytes in this turn of the event loop would show that a response is suspect.
      setImmediate(keepFinished);
    }
  };

  /** Keeps all connections before it resolves the first response. One at a time, a cold link would cost a sixth more CPU. */
  const keepFinished = () => {
    const batch = finished;
    finished = [];
    for (const [connection, { idleTime }] of batch) if (!connection.closed) keep(connection, idleTime);
    for (const [, exchange] of batch)
      if (exchange.mayRepeat()) open(exchange);
      else exchange.succeed();
  };

  const keep = (connection: Connection, idleTime: number) => {
    connection.cutWhenIdleFor(idleTime || doubtTime);
    // This connection stays open only to detect unsolicited bytes.
    if (idleTime === 0) return;
    idle.add(connection);
    const others = idleAt.get(connection.origin);
    if (others) others.push(connection);
    else idleAt.set(connection.origin, [connection]);
    const [oldest] = idle.size > maxIdle ? idle : [];
    oldest?.cut();
  };

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

  const open = (exchange: Exchange) => {
    const connection = new Connection(exchange.url, connect, { finished: finish, closed: remove });
    connections.add(connection);
    connection.send(exchange);
  };

  return {
    /**
     * Requests the head of a response, and the beginning of its body. If a body is cut off or slow, the caller gets the part
     * that arrived. Resolves once the connection is free or cut. Never sends credentials in `url`.
     *
     * The client retries once if a reused connection fails before the response begins. The server closed the idle connection and
     * never saw the request (RFC 9112 section 9.3.1).
     *
     * @throws the error of the connection (`ECONNRESET` if the server closed it without a response), `ERR_NOT_HTTP`,
     *   `ERR_AMBIGUOUS`, `ERR_HEADERS_TOO_LONG`, or the reason of `signal`.
     */
    async request(url: URL, options: RequestOptions): Promise<Response> {
      options.signal?.throwIfAborted();
      const exchange = new Exchange(url, options, fields);
      const others = strayed.has(url.origin) ? [] : (idleAt.get(url.origin) ?? []);
      const isCrowded = others.length >= maxResting;
      // The connection that has been idle longest has rested longest. The last connection may be new.
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
      for (const connection of [...connections]) connection.cut();
    },
  };
}
