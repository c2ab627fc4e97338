import type { TLSSocket } from 'node:tls';
import { type Connect, connectionClosed } from './connect.ts';
import type { RequestOptions, Response } from './exchange.ts';
import type { Http2Session, SessionEvents } from './http2-session.ts';
import { Opening } from './opening.ts';

/** Maximum idle sessions with all origins. */
const maxIdle = 256;

/** Starts a session on an open connection. Loads HTTP/2 only now, so that a command without https links starts faster. */
async function startSession(
  url: URL,
  socket: TLSSocket,
  events: SessionEvents,
  others: Iterable<Http2Session> = [],
): Promise<Http2Session> {
  const { Http2Session, maxStreams } = await import('./http2-session.ts');
  if (socket.destroyed) throw connectionClosed();
  // Until the server states the limit of this session, the limit of the others applies.
  const limit = Math.min(maxStreams, ...[...others].map((other) => other.limit));
  return new Http2Session(url, socket, limit, events);
}

/**
 * Keeps the HTTP/2 sessions of all origins: usually one for each, and more only while it has no stream left.
 *
 * @param selectedHttp1 called with the open connection if the server does not select HTTP/2.
 */
export function http2Sessions(connect: Connect, selectedHttp1: (url: URL, socket: TLSSocket) => void) {
  const sessions = new Map<string, Set<Http2Session>>();
  const openings = new Map<string, Opening<void>>();
  /** Longest idle first. */
  const idle = new Set<Http2Session>();

  const events: SessionEvents = {
    idle(session) {
      idle.add(session);
      const [oldest] = idle.size > maxIdle ? idle : [];
      oldest?.close();
    },
    retired(session) {
      idle.delete(session);
      const others = sessions.get(session.origin);
      others?.delete(session);
      if (others?.size === 0) sessions.delete(session.origin);
    },
  };

  const open = (url: URL) => {
    const { origin } = url;
    const socket = connect(url, { ALPNProtocols: ['h2', 'http/1.1'] }) as TLSSocket;
    // Load the module while the connection opens.
    import('./http2-session.ts');
    const opened = async () => {
      if (socket.alpnProtocol !== 'h2') return selectedHttp1(url, socket);
      const session = await startSession(url, socket, events, sessions.get(origin));
      sessions.getOrInsertComputed(origin, () => new Set()).add(session);
    };
    const forget = () => {
      if (openings.get(origin) === opening) openings.delete(origin);
    };
    const opening = new Opening(socket, opened, forget);
    openings.set(origin, opening);
    return opening;
  };

  return {
    /** Returns a session with room for a request. */
    find(origin: string): Http2Session | undefined {
      const found = sessions
        .get(origin)
        ?.values()
        .find((session) => session.hasRoom());
      if (found) idle.delete(found);
      return found;
    },
    /**
     * Opens a connection, or waits for the one that is being opened. Afterwards, either `find` returns a session, unless other
     * requests fill it, or `selectedHttp1` was called.
     *
     * @throws the connection error, or the reason of `signal`.
     */
    open(url: URL, signal: AbortSignal | undefined): Promise<void> {
      const current = openings.get(url.origin);
      const opening = current && !current.isClosed ? current : open(url);
      return opening.wait(signal);
    },
    /** Sends a request on a session of its own. @throws like `open` and `Http2Session.request`. */
    async requestAlone(url: URL, options: RequestOptions, fields: Record<string, string>): Promise<Response> {
      const socket = connect(url, { ALPNProtocols: ['h2'] }) as TLSSocket;
      const ignored = { idle() {}, retired() {} };
      const opening = new Opening(
        socket,
        () => startSession(url, socket, ignored),
        () => {},
      );
      const session = await opening.wait(options.signal);
      try {
        return await session.request(url, options, fields);
      } finally {
        session.close();
      }
    },
    close() {
      for (const opening of openings.values()) opening.close();
      for (const session of [...sessions.values()].flatMap((some) => [...some])) session.close();
    },
  };
}
