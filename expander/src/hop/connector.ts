import net, {
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { LRUCache } from 'lru-cache';

/** Opens a connection, which never times out by itself. `onread`, as in `net.connect`, is cheaper than a stream. */
export type Connect = (url: Pick<URL, 'protocol' | 'hostname' | 'port'>, onread: OnReadOpts) => Socket;

/** Bytes of all stored TLS sessions. A session has 2 to 4 KiB, or more with a large certificate. */
const maxSessions = 4 * 1024 * 1024;

/** Opens connections with TCP no-delay on. Resumed TLS sessions halve the cost of the next connection to a host. */
export function connector(lookup: LookupFunction, open = openSocket): Connect {
  const sessions = new LRUCache<string, Buffer>({
    maxSize: maxSessions,
    sizeCalculation: ({ length }) => length,
  });
  return ({ protocol, hostname, port }, onread) => {
    const origin = `${hostname}:${port}`;
    // IPv6 addresses are in brackets in URLs.
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = open(protocol, {
      host,
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      // An IP address is not a valid server name.
      servername: isIP(host) ? '' : host,
      session: sessions.get(origin),
      ALPNProtocols: ['http/1.1'],
      lookup,
      onread,
    });
    return socket.setNoDelay(true).on('session', (session) => sessions.set(origin, session));
  };
}

/** Loads TLS for the first `https:` URL, so that the command starts faster. */
export function openSocket(protocol: string, options: TcpNetConnectOpts & ConnectionOptions): Socket {
  return protocol === 'https:' ? process.getBuiltinModule('node:tls').connect(options) : net.connect(options);
}
