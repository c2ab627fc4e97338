import type { Socket } from 'node:net';
import type { Source } from '../expansion/expansion.ts';
import type { Connect } from './connector.ts';
import type { Exchange } from './exchange.ts';
import { notHttp } from './response-head.ts';

/** Bytes that are read at a time: more than a usual head. */
const bufferSize = 4 * 1024;

/** The shortest rest, in milliseconds. */
const minRest = 50;

export interface ConnectionEvents {
  /** The response of `exchange` is complete. */
  finished(connection: Connection, exchange: Exchange): void;
  /** The connection is closed, with an `exchange` that is not complete. */
  closed(connection: Connection, error: unknown, exchange: Exchange | undefined): void;
}

/** A connection to one origin, which carries one exchange at a time. It opens at once. */
export class Connection {
  readonly origin: string;
  readonly source: Source = { hasStrayed: false };
  /** The family of the remote address. */
  addressFamily: 4 | 6 | null = null;
  closed = false;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  /** Whether it has carried a response. */
  #isUsed = false;
  /** The only URL it has been used for; null after a second one. */
  #url: string | null = null;
  /** Milliseconds from opening to the first response, which no late body can displace. The next response takes about as long. */
  #restTime = 0;
  readonly #openedAt = performance.now();
  /** When its rest ends. */
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
    // A read with `onread` costs a third of a read from a stream.
    this.#socket = connect(url, onread)
      .on('error', (error) => this.#close(error))
      .on('end', () => this.#close(reset('the connection was closed without an answer', true)))
      .on('close', () => this.#close(reset('the connection was closed without an answer')))
      .on('timeout', () => {
        if (!this.#exchange) this.cut();
      });
  }

  /**
   * Whether it may carry `exchange` next. A late body to HEAD may look like the next response, and shift all later ones by
   * one. So a connection rests after each response but the first, until that would have shown. GET closes the connection
   * before it could show, so only a connection that has served no other URL carries it.
   *
   * @param isCrowded whether enough connections rest, so that this one need not.
   */
  mayCarry({ method, url }: Exchange, isCrowded: boolean): boolean {
    const hasRested = isCrowded || performance.now() >= this.#restsUntil;
    return hasRested && (method === 'HEAD' || this.#url === url.href);
  }

  /** Sends the request of `exchange`. The socket holds it back until it is open, and over TLS the server is verified. */
  send(exchange: Exchange): void {
    if (this.#url !== exchange.url.href) this.#url = null;
    exchange.begin(this, this.#isUsed ? this.source : null);
    this.#exchange = exchange;
    this.#socket.write(exchange.message, 'latin1');
  }

  /** Cuts the connection after this many milliseconds without data, unless it is in use. */
  cutWhenIdleFor(milliseconds: number): void {
    // Each read starts this time again.
    if (this.#socket.timeout !== milliseconds) this.#socket.setTimeout(milliseconds);
  }

  /** Cuts the connection, even while it is being opened. */
  cut(): void {
    this.#close(reset('the connection was cut'));
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
      // Unsolicited bytes may be the late body to a HEAD.
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

/** @param isEnd whether the server has sent all that it wanted to. */
function reset(message: string, isEnd = false): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ECONNRESET', isEnd });
}
