import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { createConnection, type NetConnectOpts, type Server } from 'node:net';

/** An IP address and a port (0 for any free port), or the path of a Unix socket. */
export type ListenAddress = { host: string; port: number } | { path: string };

export interface Listening {
  port: number;
  /** Examples: `http://127.0.0.1:3000/`, `unix:/run/tasks.sock`. */
  url: string;
  /** Whether only this machine can reach the port. */
  loopback: boolean;
}

/**
 * Maximum connections in the accept queue. Linux applies a limit of 4,096 by default. nginx sends all requests for a link to the
 * same replica. With Node's 511, some connections would wait for a second over TCP, or fail on a Unix socket.
 */
const backlog = 4_096;

/** Thrown if the server cannot listen. The message names the reason and the variables that set the address. */
export class ListenError extends Error {}

/**
 * Starts listening. Replaces a socket file that a killed process left behind.
 *
 * @throws ListenError
 */
export async function listen(server: Server, at: ListenAddress): Promise<Listening> {
  if ('path' in at) await removeStaleSocket(at.path);
  const address = 'path' in at ? { path: at.path } : { host: at.host, port: at.port };
  await once(server.listen({ ...address, backlog }), 'listening').catch((error) => {
    throw listenError(at, error);
  });

  const bound = server.address();
  if (bound === null || typeof bound === 'string') return { port: 0, url: `unix:${bound}`, loopback: false };
  const host = 'host' in at ? at.host : bound.address;
  const name = host.includes(':') ? `[${host}]` : host;
  const loopback = /^(::ffff:)?127\.|^::1$/.test(bound.address);
  return { port: bound.port, url: `http://${name}:${bound.port}/`, loopback };
}

function listenError(at: ListenAddress, cause: NodeJS.ErrnoException): ListenError {
  const name = 'path' in at ? at.path : `Port ${at.port} of ${at.host}`;
  const variables =
    'path' in at ? 'SOCKET_PATH or OPS_SOCKET_PATH' : 'HOST and PORT, or OPS_HOST and OPS_PORT';
  const reason = cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be opened (${cause.message})`;
  return new ListenError(`${name} ${reason}. Set ${variables} to another address.`, { cause });
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() && !(await acceptsConnections({ path }))) await rm(path, { force: true });
}

export async function acceptsConnections(target: NetConnectOpts): Promise<boolean> {
  const socket = createConnection(target);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
