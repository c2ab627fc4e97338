import type { Socket } from 'node:net';
import type { Connect } from '@longhand/shared/connector.ts';
import type { Exchange } from './exchange.ts';

/** Bytes that are read at a time: more than a usual head. */
const bufferSize = 4 * 1024;

export interface ConnectionEvents {
  /** The response of `exchange` is complete. */
  finished(connection: Connection, exchange: Exchange): void;
  /** The connection is closed; its exchange gets the error after that. */
  closed(connection: Connection): void;
}

/** A connection to one origin, which carries one exchange at a time. It opens at once. */
export class Connection {
  readonly origin: string;
  /** The family of the remote address. */
  addressFamily: 4 | 6 | null = null;
  /** Whether it has carried a response before. */
  used = false;
  closed = false;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  #isOpen = false;
  #exchange: Exchange | undefined;
  #idleTime = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(url: URL, connect: Connect, events: ConnectionEvents) {
    this.origin = url.origin;
    this.#events = events;
    const onread = {
      buffer: Buffer.allocUnsafeSlow(bufferSize),
      callback: (length: number, buffer: Uint8Array) => {
        this.#receive((buffer as Buffer).toString('latin1', 0, length));
        return true;
      },
    };
    // With `onread`, a read costs a third of what it costs by way of a stream.
    this.#socket = connect(
      url,
      (error, socket) => (socket ? this.#opened(socket) : this.#close(error)),
      onread,
    )
      .on('error', (error) => this.#close(error))
      .on('end', () => this.#close(closedByServer()))
      .on('close', () => this.#close(closedByServer()));
  }

  /** Sends the request of `exchange`, once the connection is open. */
  send(exchange: Exchange): void {
    exchange.connection = this;
    this.#exchange = exchange;
    if (this.#isOpen) this.#write(exchange);
  }

  /** Cuts the connection after so many milliseconds, unless it is in use then. */
  cutWhenIdleFor(milliseconds: number): void {
    if (this.#idleTimer && milliseconds === this.#idleTime) {
      this.#idleTimer.refresh();
      return;
    }
    clearTimeout(this.#idleTimer);
    this.#idleTime = milliseconds;
    this.#idleTimer = setTimeout(() => {
      if (!this.#exchange) this.cut();
    }, milliseconds).unref();
  }

  /** Cuts the connection, even while it is being opened. */
  cut(): void {
    this.#close(Object.assign(new Error('the connection was cut'), { code: 'ECONNRESET' }));
  }

  #opened(socket: Socket) {
    this.#isOpen = true;
    this.addressFamily = socket.remoteFamily === 'IPv6' ? 6 : 4;
    if (this.#exchange) this.#write(this.#exchange);
  }

  #write(exchange: Exchange) {
    this.#socket.write(exchange.message, 'latin1');
  }

  #receive(text: string) {
    const exchange = this.#exchange;
    // Nobody asked for this: it must not be taken for the next response.
    if (!exchange) return this.cut();
    try {
      if (!exchange.receive(text)) return;
    } catch (error) {
      return this.#close(error);
    }
    this.#exchange = undefined;
    this.used = true;
    this.#events.finished(this, exchange);
  }

  #close(error: unknown) {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.#idleTimer);
    this.#socket.destroy();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#events.closed(this);
    exchange?.fail(error);
  }
}

function closedByServer(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed without an answer'), { code: 'ECONNRESET' });
}
