/** `plain.ts expander|tasks <port> <redis>` is a minimal service, without logging, metrics, guard or limits. */
import { createAdaptorServer } from '@hono/node-server';
import { Eta } from 'eta';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { Agent, request } from 'undici';

const [, , name, port, url = ''] = process.argv;
const redis = new Redis(url, { keyPrefix: 'plain:', enableAutoPipelining: true });
const app = new Hono();
const dispatcher = new Agent({ connections: 64 });

async function follow(url: string): Promise<string> {
  // Without `reset`, undici closes the connection after each HEAD.
  const { statusCode, headers, body } = await request(url, { method: 'HEAD', reset: false, dispatcher });
  await body.dump();
  const isRedirect = [301, 302, 303, 307, 308].includes(statusCode) && headers.location;
  return isRedirect ? follow(new URL(`${headers.location}`, url).href) : url;
}

const eta = new Eta({ autoTrim: false });
eta.loadTemplate(
  '@list',
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title><%= it.count %> tasks</title></head>
<body><main><h1>Tasks</h1>
<form action="/task" method="post"><input name="title"><button>Add</button></form>
<ul>
<% for (const { id, title, finished, created_at } of it.tasks) { %>
<% const action = finished === '1' ? 'unfinish' : 'finish' %>
<li id="task-<%= id %>">
<a href="/task/<%= id %>/<%= action %>"><%= action %></a>
<span class="title" dir="auto"><%= title %></span>
<time datetime="<%= created_at %>"><%= created_at %></time>
<a href="/tasks/<%= id %>/edit" aria-label="Edit: <%= title %>">Edit</a>
<form action="/tasks/<%= id %>" method="post"><button name="_method" value="DELETE">Delete</button></form>
</li>
<% } %>
</ul></main></body></html>`,
);

if (name === 'expander') {
  app.get('/api', async (c) => {
    const u = c.req.query('u') ?? '';
    const kept = await redis.get(u);
    if (kept) return c.html(kept);
    const found = await follow(u);
    await redis.set(u, found, 'EX', 600);
    return c.html(found);
  });
} else {
  app.get('/', async (c) => {
    const [ids, count] = await Promise.all([redis.zrange('tasks', '0', '99'), redis.zcard('tasks')]);
    const tasks = await Promise.all(ids.map(async (id) => ({ id, ...(await redis.hgetall(`task:${id}`)) })));
    return c.html(eta.render('@list', { tasks, count }));
  });
  app.post('/task', async (c) => {
    const { title } = await c.req.parseBody();
    const id = await redis.incr('last');
    const task = { title: `${title}`, finished: 0, created_at: new Date().toISOString() };
    await redis.multi().hset(`task:${id}`, task).zadd('tasks', -id, `${id}`).exec();
    return c.redirect('/');
  });
}

createAdaptorServer(app).listen(Number(port), '127.0.0.1');
