import { serve } from '@hono/node-server';
import type { Hono } from 'hono';

/** Serves `app` on a free port and sends its URL to the parent process. */
export function serveWorker(app: Hono): void {
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
    process.send?.({ url: `http://127.0.0.1:${port}` });
  });
}
