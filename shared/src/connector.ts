import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';

/** Milliseconds a socket may stay idle: a second less than Node's server allows. */
export const idleTimeout = 4_000;

/** Milliseconds by which a socket is closed before the time that the server states. */
export const idleMargin = 1_000;

/** Sockets to one origin. */
export const maxSockets = 64;

/** Idle sockets kept over all origins. The oldest makes room, so idle sockets never keep a new origin waiting. */
export const maxIdleSockets = 256;

/** TLS sessions kept, one per host: resuming a session halves the cost of the next connection to its host. */
const maxSessions = 1_000;
/** Bytes of the largest session that is kept; most are half as long. */
const maxSessionSize = 4_096;

/** The parts of a URL. */
interface ConnectTarget {
  protocol: string;
  hostname: string;
  port: string;
}

/**
 * Opens a connection, which never times out by itself. `onread`, as in `net.connect`, reads without the cost of a stream.
 *
 * @returns the socket, at once. It emits `connect`, or over TLS `secureConnect`, when the connection is open.
 */
export type Connect = (target: ConnectTarget, onread?: OnReadOpts) => Socket;

export interface SocketOptions {
  host: string;
  port: string | number;
  /** The name to verify; empty for an address. */
  servername: string;
  session: Buffer | undefined;
  onread: OnReadOpts | undefined;
  timeout: undefined;
}

/** Opens connections by way of `open`, and resumes TLS sessions. */
export function resumingConnector(open: (protocol: string, options: SocketOptions) => Socket): Connect {
  const sessions = new Map<string, Buffer>();
  const remember = (origin: string, session: Buffer) => {
    if (session.length > maxSessionSize) return;
    sessions.delete(origin);
    sessions.set(origin, session);
    const [oldest] = sessions.keys();
    if (sessions.size > maxSessions && oldest) sessions.delete(oldest);
  };

  return ({ protocol, hostname, port }, onread) => {
    const origin = `${hostname}:${port}`;
    // A URL has an IPv6 address in brackets.
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = open(protocol, {
      host,
      port: port || (protocol === 'https:' ? 443 : 80),
      servername: isIP(host) ? '' : host,
      session: sessions.get(origin),
      onread,
      timeout: undefined,
    });
    // Node's agent forgets the sessions of sockets that are cut.
    return socket.on('session', (session) => remember(origin, session));
  };
}

/**
 * Opens connections with TCP no-delay on. It loads TLS only for the first `https:` URL: a command starts faster without.
 *
 * @param lookup resolves names. @param ca the certificates to trust; those of Node by default.
 */
export function connector(lookup?: LookupFunction, ca?: string): Connect {
  return resumingConnector((protocol, given) => {
    const more = { ...(lookup && { lookup }), ...(ca && { ca }) };
    const options = { ...given, ...more, port: Number(given.port), ALPNProtocols: ['http/1.1'] };
    const socket =
      protocol === 'https:' ? process.getBuiltinModule('node:tls').connect(options) : connectTcp(options);
    return socket.setNoDelay(true);
  });
}
