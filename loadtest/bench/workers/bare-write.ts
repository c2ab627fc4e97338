/** The ceiling of a write: a bare Hono route that stores a form's title in one transaction of HSET and ZADD. */
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { serveApp } from './serve.ts';

const redis = new Redis(process.argv[2] ?? '', { keyPrefix: 'bare:', enableAutoPipelining: true });
const app = new Hono();
let id = 0;
app.post('/', async (c) => {
  const title = new URLSearchParams(await c.req.text()).get('title') ?? '';
  id += 1;
  await redis
    .multi()
    .hset(`task:${id}`, { title, finished: 0, created_at: new Date().toISOString() })
    .zadd('tasks', -id, `${id}`)
    .exec();
  return c.body(null, 302, { Location: '/' });
});
serveApp(app);
