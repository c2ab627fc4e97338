import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Starts `server` on `port` (by default a free port) and returns the port. */
export async function listening(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await once(server.listen(port, host), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Stops a server and closes its connections. */
export function cutOff(server: HttpServer): void {
  server.closeAllConnections();
  server.close();
}

/** Returns the last argument passed to `setNoDelay`. Node has no getter for TCP_NODELAY. */
export function noDelay(socket: Socket): unknown {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'kSetNoDelay',
  );
  return symbol && (socket as unknown as Record<symbol, unknown>)[symbol];
}
