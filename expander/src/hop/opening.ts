import type { TLSSocket } from 'node:tls';
import { connectionClosed } from './connect.ts';

/** A TLS connection that is being opened. Requests wait for it together. It closes once none of them waits any more. */
export class Opening<Opened> {
  readonly #socket: TLSSocket;
  readonly #opened: Promise<Opened>;
  #waiting = 0;
  #isSecure = false;

  /**
   * @param opened called once TLS has verified the server. Takes over the socket.
   * @param ended called when `opened` has resolved, or the connection has failed.
   */
  constructor(socket: TLSSocket, opened: () => Promise<Opened>, ended: () => void) {
    this.#socket = socket;
    const secure = Promise.withResolvers<void>();
    // The listeners stay, because an `error` event without a listener would end the process.
    socket
      .once('secureConnect', () => {
        this.#isSecure = true;
        secure.resolve();
      })
      .on('error', secure.reject)
      .on('close', () => secure.reject(connectionClosed()));
    this.#opened = secure.promise.then(opened);
    this.#opened.then(ended, ended);
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** @throws the connection error, or the reason of `signal`. */
  async wait(signal: AbortSignal | undefined): Promise<Opened> {
    const gaveUp = Promise.withResolvers<never>();
    const giveUp = () => gaveUp.reject(signal?.reason);
    signal?.addEventListener('abort', giveUp);
    this.#waiting += 1;
    try {
      return await Promise.race([this.#opened, gaveUp.promise]);
    } finally {
      signal?.removeEventListener('abort', giveUp);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.close();
    }
  }

  /** Closes the connection unless TLS has verified the server. */
  close(): void {
    if (!this.#isSecure) this.#socket.destroy();
  }
}
