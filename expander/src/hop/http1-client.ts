import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { atMost } from '../expansion/at-most.ts';
import { doubtTime } from '../expansion/expansion.ts';
import type { Connect } from './connect.ts';
import { Connection } from './connection.ts';
import { Exchange, fieldLines, maxIdleTime, type RequestOptions, type Response } from './exchange.ts';

/** Limits for the cache of origins that sent unsolicited bytes. Times are in milliseconds. */
const strayedLimits = { ...atMost(10_000), ttl: 10 * 60 * 1_000 };

/** Maximum idle connections to all origins. */
const maxIdle = 256;

/** Maximum connections to one origin, as many as its slots. Instead of opening more, the client reuses connections without cooldown. */
const maxAtOrigin = 64;

/** A connection whose exchange has ended in this turn of the event loop. */
interface Finished {
  connection: Connection;
  exchange: Exchange;
}

/** The connections to one origin. */
interface Connections {
  open: number;
  /** Longest idle first. */
  idle: Connection[];
}

/**
 * Creates an HTTP/1.1 client that reads heads and the start of bodies. Other layers limit the requests in flight.
 *
 * Unsolicited bytes may be a late body for an earlier HEAD. When these bytes arrive, the client retries the current request on
 * a new connection. Every later request to that origin uses a new connection.
 *
 * @param headers alternating names and values, for all requests.
 */
export function http1Client(connect: Connect, headers: readonly string[] = []) {
  const fields = fieldLines(headers);
  const connections = new Set<Connection>();
  /** Longest idle first. */
  const idle = new Set<Connection>();
  const origins = new Map<string, Connections>();
  const strayed = new LRUCache<string, true>(strayedLimits);
  let finished: Finished[] = [];

  const finish = (connection: Connection, exchange: Exchange) => {
    const mayReuse = exchange.idleTime > 0 && !strayed.has(connection.origin);
    if (!mayReuse && !exchange.isInDoubt) {
      connection.close();
      exchange.succeed();
    } else if (finished.push({ connection, exchange }) === 1) {
      // Wait, because more bytes may arrive in this turn of the event loop and make the response suspect.
      setImmediate(keepFinished);
    }
  };

  /** Frees all connections before resolving the first response. Freeing them one by one takes about 17% more CPU time. */
  const keepFinished = () => {
    const batch = finished;
    finished = [];
    for (const { connection, exchange } of batch) {
      if (!connection.closed) keep(connection, exchange.idleTime);
    }
    for (const { exchange } of batch) {
      if (exchange.shouldRetry()) open(exchange);
      else exchange.succeed();
    }
  };

  const keep = (connection: Connection, idleTime: number) => {
    connection.closeWhenIdleFor(idleTime || doubtTime);
    // The connection stays open only to detect unsolicited bytes.
    if (idleTime === 0) return;
    idle.add(connection);
    origins.get(connection.origin)?.idle.push(connection);
    const [oldest] = idle.size > maxIdle ? idle : [];
    oldest?.close();
  };

  const take = (connection: Connection) => {
    const others = origins.get(connection.origin)?.idle ?? [];
    if (idle.delete(connection)) others.splice(others.lastIndexOf(connection), 1);
  };

  const remove = (connection: Connection, error: unknown, exchange?: Exchange) => {
    connections.delete(connection);
    take(connection);
    const others = origins.get(connection.origin);
    if (others) others.open -= 1;
    if (others?.open === 0) origins.delete(connection.origin);
    if (connection.source.hasStrayed) strayed.set(connection.origin, true);
    if (exchange?.shouldRetry(error)) open(exchange);
    else exchange?.fail(error);
  };

  const add = (url: URL, socket?: Socket) => {
    const connection = new Connection(url, connect, { finished: finish, closed: remove }, socket);
    connections.add(connection);
    origins.getOrInsertComputed(connection.origin, () => ({ open: 0, idle: [] })).open += 1;
    return connection;
  };

  const open = (exchange: Exchange) => add(exchange.url).send(exchange);

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
      const { open: count = 0, idle: others = [] } = origins.get(url.origin) ?? {};
      const isCrowded = count >= maxAtOrigin;
      // Try the connection that has been idle longest, then the latest one, which may be new and need no cooldown.
      const candidates = strayed.has(url.origin) ? [] : [others[0], others.at(-1)];
      const connection = candidates.find((other) => other?.mayCarry(exchange, isCrowded));
      if (connection) {
        take(connection);
        connection.send(exchange);
      } else {
        if (isCrowded) others[0]?.close();
        open(exchange);
      }
      return exchange.response;
    },
    /** Keeps an open connection to the origin of `url` for the next request. */
    adopt(url: URL, socket: Socket): void {
      keep(add(url, socket), maxIdleTime);
    },
    close() {
      for (const connection of [...connections]) connection.close();
    },
  };
}
