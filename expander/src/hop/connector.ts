import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';

/** The parts of a URL. */
interface ConnectTarget {
  protocol: string;
  hostname: string;
  port: string;
}

/**
 * Opens a connection, which never times out by itself. `onread`, as in `net.connect`, reads without the cost of a stream.
 *
 * @returns the socket, at once.
 */
export type Connect = (target: ConnectTarget, onread: OnReadOpts) => Socket;

/** What `net.connect` and `tls.connect` take. An address has no `servername`. */
const optionsFor = ({ protocol, hostname, port }: ConnectTarget, lookup: LookupFunction) => {
  // A URL has an IPv6 address in brackets.
  const host = hostname.replace(/^\[|\]$/g, '');
  const servername = isIP(host) ? '' : host;
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return { host, port: Number(port || defaultPort), servername, lookup, ALPNProtocols: ['http/1.1'] };
};

type Options = ReturnType<typeof optionsFor> & { session: Buffer | undefined; onread: OnReadOpts };

/** Bytes of all TLS sessions that are kept. One has 2 to 4 KiB, or more if its certificate is large. */
const maxSessions = 4 * 1024 * 1024;

/**
 * Opens connections with TCP no-delay on, and resumes TLS sessions: that halves the cost of the next connection to a host.
 *
 * @param lookup resolves names.
 */
export function connector(lookup: LookupFunction, open = openSocket): Connect {
  const sessions = new LRUCache<string, Buffer>({
    maxSize: maxSessions,
    sizeCalculation: ({ length }) => length,
  });
  return (target, onread) => {
    const origin = `${target.hostname}:${target.port}`;
    const socket = open(target.protocol, {
      ...optionsFor(target, lookup),
      session: sessions.get(origin),
      onread,
    });
    return socket.setNoDelay(true).on('session', (session) => sessions.set(origin, session));
  };
}

/** Loads TLS only for the first `https:` URL: a command starts faster without. */
export function openSocket(protocol: string, options: Options): Socket {
  return protocol === 'https:' ? process.getBuiltinModule('node:tls').connect(options) : connectTcp(options);
}
