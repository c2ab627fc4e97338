import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AnnotatedResponse } from './observe.ts';

/**
 * Milliseconds for which a connection stays open after an early response. Closing it at once would reset it, and the client
 * could lose the response.
 */
const linger = 500;

/** Maximum bytes of the rest of a body that the server receives for nothing, so that a small form does not cost a connection. */
const maxUnread = 64 * 1024;

/**
 * A response that may precede the end of the request's body. The server does not read the rest of a large body, and closes the
 * connection instead.
 */
export class EarlyResponse extends AnnotatedResponse {
  override writeHead(status: number, ...head: unknown[]): this {
    if (this.socket && expectsMore(this.req)) {
      this.shouldKeepAlive = false;
      closeUnread(this.socket);
    }
    return super.writeHead(status, ...(head as []));
  }
}

function expectsMore({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxUnread;
}

/** After the response, Node would read on and close the connection at once. */
function closeUnread(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    // Node resumes the socket in this turn of the event loop.
    setImmediate(() => socket.pause());
    setTimeout(() => socket.destroy(), linger).unref();
  };
}
