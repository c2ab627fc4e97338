import net, {
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Source } from '../expansion/expansion.ts';
import type { Exchange } from './exchange.ts';
import { notHttp } from './response-head.ts';

/** Size of the read buffer in bytes. Most response heads fit. */
const bufferSize = 4 * 1024;

/** Min cooldown after a response, in milliseconds. See `mayCarry`. */
const minCooldown = 50;

interface ConnectionEvents {
  finished(connection: Connection, exchange: Exchange): void;
  /** `exchange` is undefined if the connection was idle. */
  closed(connection: Connection, error: unknown, exchange: Exchange | undefined): void;
}

/** A connection to one origin. It carries one exchange at a time. The constructor opens the connection. */
export class Connection {
  readonly origin: string;
  readonly source: Source = { hasStrayed: false };
  addressFamily: 4 | 6 | null = null;
  closed = false;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #isUsed = false;
  /** URL of the requests so far; null if they had different URLs. */
  #url: string | null = null;
  /** Milliseconds from opening the connection to the first response. A late body may take this long. */
  #cooldown = 0;
  readonly #openedAt = performance.now();
  #coolsDownUntil = 0;

  constructor(url: URL, connect: Connect, events: ConnectionEvents) {
    this.origin = url.origin;
    this.#url = url.href;
    this.#events = events;
    const onread = {
      buffer: Buffer.allocUnsafeSlow(bufferSize),
      callback: (length: number, buffer: Uint8Array) => {
        this.#receive((buffer as Buffer).toString('latin1', 0, length));
        return true;
      },
    };
    this.#socket = connect(url, onread)
      .on('error', (error) => this.#close(error))
      .on('end', () => this.#close(reset(true)))
      .on('close', () => this.#close(reset()))
      .on('timeout', () => {
        if (!this.#exchange) this.close();
      });
  }

  /**
   * Whether the connection can be reused for `exchange`. A late body after HEAD can look like the next response and shift all
   * later responses. The connection therefore cools down after each response except the first, until a late body would have
   * arrived. GET can reuse a connection only for the same URL. The connection closes after GET, so it cannot detect a late
   * body.
   *
   * @param isCrowded whether the origin has enough other idle connections to skip the cooldown.
   */
  mayCarry({ method, url }: Exchange, isCrowded: boolean): boolean {
    const isReady = isCrowded || performance.now() >= this.#coolsDownUntil;
    return isReady && (method === 'HEAD' || this.#url === url.href);
  }

  /** Sends the request of `exchange`. The socket buffers the request until it is open and TLS has verified the server. */
  send(exchange: Exchange): void {
    if (this.#url !== exchange.url.href) this.#url = null;
    exchange.begin(this, this.#isUsed ? this.source : null);
    this.#exchange = exchange;
    this.#socket.write(exchange.message, 'latin1');
  }

  /** Closes the connection once it has been idle for this time. */
  closeWhenIdleFor(milliseconds: number): void {
    // Each read restarts this timer.
    if (this.#socket.timeout !== milliseconds) this.#socket.setTimeout(milliseconds);
  }

  /** Closes the connection immediately, even if it is not open yet. */
  close(): void {
    this.#close(reset());
  }

  #receive(text: string) {
    const exchange = this.#exchange;
    this.addressFamily ??= this.#socket.remoteFamily === 'IPv6' ? 6 : 4;
    try {
      const rest = exchange ? exchange.receive(text) : text;
      if (rest === null) return;
      this.#exchange = undefined;
      this.#coolDown();
      if (exchange) this.#events.finished(this, exchange);
      if (rest !== '') throw notHttp();
    } catch (error) {
      if (this.#isUsed) this.source.hasStrayed = true;
      this.#close(error);
    }
  }

  #coolDown() {
    const now = performance.now();
    if (this.#isUsed) this.#coolsDownUntil = now + this.#cooldown;
    else this.#cooldown = Math.max(now - this.#openedAt, minCooldown);
    this.#isUsed = true;
  }

  #close(error: unknown) {
    if (this.closed) return;
    this.closed = true;
    this.#socket.destroy();
    this.#events.closed(this, error, this.#exchange);
  }
}

/** @param isEnd whether the server closed the connection without an error. */
function reset(isEnd = false): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET', isEnd });
}

/** Opens a connection without a timeout. The `onread` option of `net.connect` is faster than reading a stream. */
export type Connect = (url: Pick<URL, 'protocol' | 'hostname' | 'port'>, onread: OnReadOpts) => Socket;

/** Max bytes of all cached TLS sessions. A session takes 2 to 4 KiB, or more with a large certificate. */
const maxSessions = 4 * 1024 * 1024;

/** Creates a `Connect` with TCP no-delay and TLS session resumption. Resumption halves the cost of a reconnect. */
export function connector(lookup: LookupFunction, open = openSocket): Connect {
  const sessions = new LRUCache<string, Buffer>({
    maxSize: maxSessions,
    sizeCalculation: ({ length }) => length,
  });
  return ({ protocol, hostname, port }, onread) => {
    const origin = `${hostname}:${port}`;
    // URLs enclose IPv6 addresses in brackets.
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = open(protocol, {
      host,
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      // TLS does not allow an IP address as the server name.
      servername: isIP(host) ? '' : host,
      session: sessions.get(origin),
      ALPNProtocols: ['http/1.1'],
      lookup,
      onread,
    });
    return socket.setNoDelay(true).on('session', (session) => sessions.set(origin, session));
  };
}

/** Opens a socket. Loads `node:tls` only when needed, so that the command-line tool starts faster. */
export function openSocket(protocol: string, options: TcpNetConnectOpts & ConnectionOptions): Socket {
  return protocol === 'https:' ? process.getBuiltinModule('node:tls').connect(options) : net.connect(options);
}
