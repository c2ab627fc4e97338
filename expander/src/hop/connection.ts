import type { Socket } from 'node:net';
import type { Source } from '../expansion/expansion.ts';
import { type Connect, connectionClosed } from './connect.ts';
import type { Exchange } from './exchange.ts';
import { notHttp } from './response-head.ts';

/** Size of the read buffer in bytes. Most response heads fit. */
const bufferSize = 4 * 1024;

/** Minimum cooldown after a response, in milliseconds. See `mayCarry`. */
const minCooldown = 50;

interface ConnectionEvents {
  finished(connection: Connection, exchange: Exchange): void;
  /** `exchange` is undefined if the connection was idle. */
  closed(connection: Connection, error: unknown, exchange: Exchange | undefined): void;
}

/** An HTTP/1.1 connection to one origin. It carries one exchange at a time. */
export class Connection {
  readonly origin: string;
  readonly source: Source = { hasStrayed: false };
  addressFamily: 4 | 6 | null = null;
  closed = false;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #isUsed = false;
  /** URL of the requests so far; null if they had different URLs, undefined before the first. */
  #url: string | null | undefined;
  /** Whether a late body may follow, which would shift all later responses. */
  #mayStray = false;
  /** Milliseconds from opening the connection to the first response. A late body may take this long. */
  #cooldown = 0;
  readonly #openedAt = performance.now();
  #coolsDownUntil = 0;

  /** @param socket an open socket. By default, the constructor opens a connection. */
  constructor(url: URL, connect: Connect, events: ConnectionEvents, socket?: Socket) {
    this.origin = url.origin;
    this.#events = events;
    socket?.on('data', (data) => this.#receive(data.toString('latin1')));
    this.#socket = (socket ?? this.#open(url, connect))
      .on('error', (error) => this.#close(error))
      .on('end', () => this.#close(connectionClosed(true)))
      .on('close', () => this.#close(connectionClosed()))
      .on('timeout', () => {
        if (!this.#exchange) this.close();
      });
  }

  /**
   * Whether the connection can be reused for `exchange`. A late body after HEAD can look like the next response and shift all
   * later responses. The connection therefore cools down after each response except the first, until a late body would have
   * arrived, unless the end of each response was certain (see `Exchange`). Otherwise, GET can reuse it only for the same URL: the
   * connection usually closes after GET, so it may not detect a late body.
   *
   * @param isCrowded whether the origin has so many connections that they skip the cooldown.
   */
  mayCarry({ method, url }: Exchange, isCrowded: boolean): boolean {
    const isReady = isCrowded || performance.now() >= this.#coolsDownUntil;
    const mayFollow = method === 'HEAD' || !this.#mayStray || this.#url === url.href;
    return isReady && mayFollow;
  }

  /** Sends the request of `exchange`. The socket buffers the request until it is open and TLS has verified the server. */
  send(exchange: Exchange): void {
    this.#url = this.#url === undefined || this.#url === exchange.url.href ? exchange.url.href : null;
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
    this.#close(connectionClosed());
  }

  /** The `onread` option of `net.connect` is faster than reading a stream. */
  #open(url: URL, connect: Connect): Socket {
    const onread = {
      buffer: Buffer.allocUnsafeSlow(bufferSize),
      callback: (length: number, buffer: Uint8Array) => {
        this.#receive((buffer as Buffer).toString('latin1', 0, length));
        return true;
      },
    };
    return connect(url, { onread, ALPNProtocols: ['http/1.1'] });
  }

  #receive(text: string) {
    const exchange = this.#exchange;
    this.addressFamily ??= this.#socket.remoteFamily === 'IPv6' ? 6 : 4;
    try {
      const rest = exchange ? exchange.receive(text) : text;
      if (rest === null) return;
      this.#exchange = undefined;
      this.#mayStray ||= exchange?.mayLeaveBody ?? true;
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
    if (this.#isUsed && this.#mayStray) this.#coolsDownUntil = now + this.#cooldown;
    if (!this.#isUsed) this.#cooldown = Math.max(now - this.#openedAt, minCooldown);
    this.#isUsed = true;
  }

  #close(error: unknown) {
    if (this.closed) return;
    this.closed = true;
    this.#socket.destroy();
    this.#events.closed(this, error, this.#exchange);
  }
}
