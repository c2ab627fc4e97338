/**
 * `least.ts <way> <port> [argument]`: the least code for what a service does, one bare Hono route for each way.
 */
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { Agent, request } from 'undici';

const [, , way = '', port = '', argument = ''] = process.argv;

const ways: Record<string, (app: Hono) => unknown> = {
  /** Repeats one response of the URL that its argument names. */
  async constant(app) {
    const body = await (await fetch(argument)).text();
    app.get('*', (c) => c.html(body));
  },

  /** Sends the value of the key `least` of the Redis that its argument names. */
  redis(app) {
    const redis = new Redis(argument, { enableAutoPipelining: true });
    app.get('*', async (c) => c.html((await redis.get('least')) ?? ''));
  },

  /** Follows the redirects of `u`. */
  follow(app) {
    const dispatcher = new Agent({ connections: 64 });
    app.get('*', async (c) => {
      for (let url = c.req.query('u') ?? ''; ; ) {
        // Without `reset`, undici closes the connection after each HEAD.
        const options = { method: 'HEAD', reset: false, dispatcher } as const;
        const { statusCode, headers, body } = await request(url, options);
        await body.dump();
        if ((statusCode !== 301 && statusCode !== 302) || !headers.location) return c.html(url);
        url = new URL(`${headers.location}`, url).href;
      }
    });
  },

  /** Stores the title of a form in one transaction. */
  write(app) {
    const redis = new Redis(argument, { keyPrefix: 'least:', enableAutoPipelining: true });
    let id = 0;
    app.post('*', async (c) => {
      const title = new URLSearchParams(await c.req.text()).get('title') ?? '';
      id += 1;
      const task = { title, finished: 0, created_at: new Date().toISOString() };
      await redis.multi().hset(`task:${id}`, task).zadd('tasks', -id, `${id}`).exec();
      return c.body(null, 302, { Location: '/' });
    });
  },
};

const app = new Hono();
await ways[way]?.(app);
createAdaptorServer(app).listen(Number(port), '127.0.0.1');
