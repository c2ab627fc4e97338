/** The ceiling of a service: a bare Hono route that answers as many bytes as its argument says, always the same. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const body = 'x'.repeat(Number(process.argv[2]));
const app = new Hono();
app.get('/', (c) => c.html(body));
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
