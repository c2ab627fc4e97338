import type { TLSSocket } from 'node:tls';
import { type Connect, connectionClosed } from './connect.ts';
import type { Http2Session } from './http2-session.ts';
import { Opening } from './opening.ts';

/** Max idle sessions with all origins. */
const maxIdle = 256;

/**
 * Keeps the HTTP/2 sessions of all origins: usually one for each, and more only while it has no stream left.
 *
 * @param selectedHttp1 called with the open connection if the server does not select HTTP/2.
 */
export function http2Sessions(connect: Connect, selectedHttp1: (url: URL, socket: TLSSocket) => void) {
  const sessions = new Map<string, Set<Http2Session>>();
  const openings = new Map<string, Opening>();
  /** Longest idle first. May contain sessions that are in use again. */
  const idle = new Set<Http2Session>();

  const events = {
    idle(session: Http2Session) {
      idle.delete(session);
      idle.add(session);
      const [oldest] = idle.size > maxIdle ? idle : [];
      oldest?.close();
    },
    retired(session: Http2Session) {
      idle.delete(session);
      const others = sessions.get(session.origin);
      others?.delete(session);
      if (others?.size === 0) sessions.delete(session.origin);
    },
  };

  const start = async (
    url: URL,
    socket: TLSSocket,
    loading: Promise<typeof import('./http2-session.ts')>,
  ) => {
    if (socket.alpnProtocol !== 'h2') return selectedHttp1(url, socket);
    const { Http2Session, maxStreams } = await loading;
    if (socket.destroyed) throw connectionClosed();
    const others = sessions.getOrInsertComputed(url.origin, () => new Set());
    // Until the server states the limit of this session, the limit of the others applies.
    const limit = Math.min(maxStreams, ...[...others].map((other) => other.limit));
    others.add(new Http2Session(url, socket, limit, events));
  };

  const open = (url: URL) => {
    const socket = connect(url, { ALPNProtocols: ['h2', 'http/1.1'] }) as TLSSocket;
    // Load HTTP/2 while the connection opens. Most commands start faster without it.
    const loading = import('./http2-session.ts');
    const forget = () => {
      if (openings.get(url.origin) === opening) openings.delete(url.origin);
    };
    const opening = new Opening(socket, () => start(url, socket, loading), forget);
    openings.set(url.origin, opening);
    return opening;
  };

  return {
    /** Returns a session with room for a request. */
    find(origin: string): Http2Session | undefined {
      return sessions
        .get(origin)
        ?.values()
        .find((session) => session.hasRoom());
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
    close() {
      for (const opening of openings.values()) opening.close();
      for (const session of [...sessions.values()].flatMap((some) => [...some])) session.close();
    },
  };
}
