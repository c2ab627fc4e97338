import type { Socket } from 'node:net';
import type { Connect } from '@longhand/shared/connector.ts';
import type { Exchange } from './exchange.ts';

/** Bytes that are read at a time: more than a usual head. */
const bufferSize = 4 * 1024;

export interface ConnectionEvents {
  /** The response of `exchange` is complete. */
  finished(connection: Connection, exchange: Exchange): void;
  /** The connection is closed, with an `exchange` that is not complete. */
  closed(connection: Connection, error: unknown, exchange: Exchange | undefined): void;
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
    this.#socket = connect(url, onread)
      .once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => this.#opened())
      .on('error', (error) => this.#close(error))
      .on('end', () => this.#close(reset('the connection was closed without an answer')))
      .on('close', () => this.#close(reset('the connection was closed without an answer')))
      .on('timeout', () => {
        if (!this.#exchange) this.cut();
      });
  }

  /** Sends the request of `exchange`, once the connection is open. */
  send(exchange: Exchange): void {
    exchange.connection = this;
    this.#exchange = exchange;
    if (this.#isOpen) this.#socket.write(exchange.message, 'latin1');
  }

  /** Cuts the connection once nothing has come for so many milliseconds, unless it is in use then. */
  cutWhenIdleFor(milliseconds: number): void {
    // Each read starts this time again.
    if (this.#socket.timeout !== milliseconds) this.#socket.setTimeout(milliseconds);
  }

  /** Cuts the connection, even while it is being opened. */
  cut(): void {
    this.#close(reset('the connection was cut'));
  }

  #opened() {
    this.#isOpen = true;
    this.addressFamily = this.#socket.remoteFamily === 'IPv6' ? 6 : 4;
    if (this.#exchange) this.send(this.#exchange);
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
    this.#socket.destroy();
    this.#events.closed(this, error, this.#exchange);
  }
}

function reset(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
