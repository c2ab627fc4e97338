import net, {
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { withNoDelay } from '@longhand/shared/agent.ts';
import { LRUCache } from 'lru-cache';

export interface ConnectOptions {
  /** Protocols to offer over TLS, preferred first. */
  ALPNProtocols: string[];
  onread?: OnReadOpts;
}

/** Opens a connection without a timeout. */
export type Connect = (url: Pick<URL, 'protocol' | 'hostname' | 'port'>, options: ConnectOptions) => Socket;

/** Maximum bytes of all cached TLS sessions. A session takes 2 to 4 KiB, or more with a large certificate. */
const maxSessions = 4 * 1024 * 1024;

/** Creates a `Connect` with TCP no-delay and TLS session resumption. Resumption halves the cost of a reconnect. */
export function connector(lookup: LookupFunction, open = openSocket): Connect {
  const sessions = new LRUCache<string, Buffer>({
    maxSize: maxSessions,
    sizeCalculation: ({ length }) => length,
  });
  return ({ protocol, hostname, port }, options) => {
    const origin = `${hostname}:${port}`;
    // URLs enclose IPv6 addresses in brackets.
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = open(protocol, {
      host,
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      // TLS does not allow an IP address as the server name.
      servername: isIP(host) ? '' : host,
      session: sessions.get(origin),
      lookup,
      ...options,
    });
    return withNoDelay(socket).on('session', (session) => sessions.set(origin, session));
  };
}

/** Opens a socket. Loads `node:tls` only when needed, so that the command-line tool starts faster. */
export function openSocket(protocol: string, options: TcpNetConnectOpts & ConnectionOptions): Socket {
  return protocol === 'https:' ? process.getBuiltinModule('node:tls').connect(options) : net.connect(options);
}

/** @param isEnd whether the server closed the connection without an error. */
export function connectionClosed(isEnd = false): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET', isEnd });
}
