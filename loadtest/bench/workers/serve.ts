import type { AddressInfo, Server } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';

/** Lets `server` listen on a free port, and sends its URL to the parent process. */
export function serveWorker(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
}

/** The same for an application. */
export const serveApp = (app: Hono) => serveWorker(createAdaptorServer(app));
