/** The ceiling of a service: a bare Hono route that answers every time what the URL, its argument, answered once. */
import { Hono } from 'hono';
import { serveApp } from './serve.ts';

const body = await (await fetch(process.argv[2] ?? '')).text();
const app = new Hono();
for (const path of ['/', '/api']) app.get(path, (c) => c.html(body));
serveApp(app);
