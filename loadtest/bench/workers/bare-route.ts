/** The ceiling of a service: a bare Hono route that answers with the same number of bytes each time, its argument. */
import { Hono } from 'hono';
import { serveWorker } from './serve.ts';

const body = 'x'.repeat(Number(process.argv[2]));
const app = new Hono();
for (const path of ['/', '/api']) app.get(path, (c) => c.html(body));
serveWorker(app);
