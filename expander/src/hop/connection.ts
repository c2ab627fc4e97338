import type { Socket } from 'node:net';
import type { Source } from '../expansion/expansion.ts';
import type { Connect } from './connector.ts';
import type { Exchange } from './exchange.ts';
import { notHttp } from './response-head.ts';

/** Bytes to read at a time: more than a usual head. */
const bufferSize = 4 * 1024;

/** The shortest rest after a response, in milliseconds. See `mayCarry`. */
const minRest = 50;

interface ConnectionEvents {
  finished(connection: Connection, exchange: Exchange): void;
  /** `exchange` is the incomplete exchange, if any. */
  closed(connection: Connection, error: unknown, exchange: Exchange | undefined): void;
}

/** A connection to one origin, which carries one exchange at a time. It opens at once. */
export class Connection {
  readonly origin: string;
  readonly source: Source = { hasStrayed: false };
  addressFamily: 4 | 6 | null = null;
  closed = false;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #isUsed = false;
  /** The only URL that it has requested; null after a second URL. */
  #url: string | null = null;
  /** Milliseconds from opening to the first response. No late body can precede that, and later responses take about as long. */
  #restTime = 0;
  readonly #openedAt = performance.now();
  #restsUntil = 0;

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
        if (!this.#exchange) this.cut();
      });
  }

  /**
   * Whether it may carry `exchange` next. A late body to HEAD may look like the next response, and shift all later responses.
   * So a connection rests after each response but the first, until such a body would have arrived. GET may only follow requests
   * for the same URL, because it closes the connection before a late body would show.
   *
   * @param isCrowded whether enough other connections are resting.
   */
  mayCarry({ method, url }: Exchange, isCrowded: boolean): boolean {
    const hasRested = isCrowded || performance.now() >= this.#restsUntil;
    return hasRested && (method === 'HEAD' || this.#url === url.href);
  }

  /** Sends the request of `exchange`. The socket holds it back until it is open and, over TLS, has verified the server. */
  send(exchange: Exchange): void {
    if (this.#url !== exchange.url.href) this.#url = null;
    exchange.begin(this, this.#isUsed ? this.source : null);
    this.#exchange = exchange;
    this.#socket.write(exchange.message, 'latin1');
  }

  /** Cuts the connection after this time without data or a request. */
  cutWhenIdleFor(milliseconds: number): void {
    // Each read restarts this timer.
    if (this.#socket.timeout !== milliseconds) this.#socket.setTimeout(milliseconds);
  }

  /** Cuts the connection, even before it is open. */
  cut(): void {
    this.#close(reset());
  }

  #receive(text: string) {
    const exchange = this.#exchange;
    this.addressFamily ??= this.#socket.remoteFamily === 'IPv6' ? 6 : 4;
    try {
      const rest = exchange ? exchange.receive(text) : text;
      if (rest === null) return;
      this.#exchange = undefined;
      this.#rest();
      if (exchange) this.#events.finished(this, exchange);
      if (rest !== '') throw notHttp();
    } catch (error) {
      if (this.#isUsed) this.source.hasStrayed = true;
      this.#close(error);
    }
  }

  #rest() {
    const now = performance.now();
    if (this.#isUsed) this.#restsUntil = now + this.#restTime;
    else this.#restTime = Math.max(now - this.#openedAt, minRest);
    this.#isUsed = true;
  }

  #close(error: unknown) {
    if (this.closed) return;
    this.closed = true;
    this.#socket.destroy();
    this.#events.closed(this, error, this.#exchange);
  }
}

/** @param isEnd whether the server ended the connection properly. */
function reset(isEnd = false): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET', isEnd });
}
