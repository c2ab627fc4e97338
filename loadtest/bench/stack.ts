import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { Redis } from 'ioredis';
import { httpLoad } from './http-load.ts';
import { type Candidate, measurePairs, type Pair, type Rounds, type Table } from './measure.ts';
import { type Program, startLeast, startProgram, startService, startShortener } from './programs.ts';

/** A rate limit that is out of reach. */
const unlimited = '9999999r/s';
/** Seconds until the code of a cold link and of a write is compiled. */
const longWarmUp = 6;
/** Links that only Redis remembers: more than fit into the memory of an expander. */
const stored = 100_000;

/** What a request costs the process that answers it, beside the least code for the same. */
export async function measureStack(rounds: Rounds): Promise<Table> {
  await using running = new AsyncDisposableStack();
  const pairs = [
    ...(await expansions(running)),
    ...(await lists(running)),
    await writes(running),
    await nativeHotLink(running),
  ];
  const rows = await measurePairs(pairs, rounds);
  return { title: 'What a request costs', unit: 'CPU µs', rows };
}

async function expansions(running: AsyncDisposableStack): Promise<Pair[]> {
  const shortener = running.use(await startShortener());
  const expander = running.use(await startService('expander'));
  const api = (path: string) => `/api?u=${encodeURIComponent(shortener.url + path)}`;
  const hot = api('/chain/2?id=template');
  const bareRoute = running.use(await startLeast('constant', `${expander.url}/api`));
  const bareHot = running.use(await startLeast('constant', expander.url + hot));
  const bareRedis = running.use(await startLeast('redis', expander.redis.url));
  const follower = running.use(await startLeast('follow'));
  await copyEntries(expander.redis.url, 'template', await (await fetch(expander.url + hot)).text());
  const candidate = ({ url, pid }: Program, path: () => string): Candidate => ({
    processes: [pid],
    ...(url === expander.url && { others: { redis: expander.redis.pid } }),
    load: httpLoad({ url: () => url + path() }),
  });
  const pair = (name: string, bare: Program, goal: number, path: () => string): Pair => ({
    name,
    goal,
    ours: candidate(expander, path),
    least: candidate(bare, path),
  });
  let copy = 0;
  let id = 0;
  return [
    pair('a route that does nothing', bareRoute, 2, () => '/api'),
    pair('hot link, from memory', bareHot, 1.8, () => hot),
    pair('from Redis', bareRedis, 3.5, () => api(`/chain/2?id=copy-${copy++ % stored}`)),
    {
      ...pair('cold link, 5 redirects', follower, 1.4, () => api(`/chain/5?id=${id++}`)),
      warmUp: longWarmUp,
    },
  ];
}

/** Copies what the expander stored for one link to others, and stores `body` for the least code. */
async function copyEntries(url: string, template: string, body: string): Promise<void> {
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`*chain/2?id=${template}`);
    if (keys.length === 0) throw new Error('The expander stored nothing in Redis.');
    const entries = await Promise.all(keys.map(async (key) => [key, (await redis.get(key)) ?? ''] as const));
    for (let start = 0; start < stored; start += 10_000) {
      const batch = redis.pipeline().set('least', body);
      for (let i = start; i < start + 10_000; i += 1) {
        const copy = (text: string) => text.replaceAll(template, `copy-${i}`);
        for (const [key, value] of entries) batch.set(copy(key), copy(value), 'EX', 3_600);
      }
      await batch.exec();
    }
  } finally {
    redis.disconnect();
  }
}

async function lists(running: AsyncDisposableStack): Promise<Pair[]> {
  const tasks = running.use(await startService('tasks'));
  const titles = Array.from({ length: 100 }, (_, i) => `call the dentist about invoice ${i}\n`).join('');
  const asText = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
  await fetch(`${tasks.url}/tasks/import`, { method: 'POST', headers: asText, body: titles });
  const bare = running.use(await startLeast('constant', tasks.url));
  // Its own CPU is not counted.
  const writer = running.use(await startService('tasks', tasks.redis));
  const { headers } = await openList(tasks.url);
  let writes = 0;
  const write = async () => {
    const action = writes++ % 2 === 0 ? 'finish' : 'unfinish';
    await (await fetch(`${writer.url}/task/1/${action}`, { redirect: 'manual' })).text();
  };
  const pair = (name: string, goal: number, more: object): Pair => ({
    name,
    goal,
    ours: {
      processes: [tasks.pid],
      others: { redis: tasks.redis.pid },
      load: httpLoad({ url: () => tasks.url, headers, ...more }),
    },
    least: { processes: [bare.pid], load: httpLoad({ url: () => bare.url, headers, ...more }) },
  });
  return [
    pair('list of 100, unchanged', 1.7, {}),
    pair('list of 100, after every write (one connection)', 4, { connections: 1, before: write }),
  ];
}

async function writes(running: AsyncDisposableStack): Promise<Pair> {
  const tasks = running.use(await startService('tasks'));
  const bare = running.use(await startLeast('write', tasks.redis.url));
  const nginx = await startNginx(running, tasks.url);
  const before = await startNginx(running, bare.url);
  const session = await openList(tasks.url);
  const headers = { ...session.headers, 'content-type': 'application/x-www-form-urlencoded' };
  let id = 0;
  const candidate = (pid: number, proxy: Nginx) => ({
    processes: [pid],
    others: { redis: tasks.redis.pid, nginx: proxy.pid },
    load: httpLoad({
      url: () => `http://127.0.0.1:${proxy.ports.tasks}/task`,
      headers,
      body: () => `title=Task+number+${id++}&_csrf=${session.token}`,
      status: 302,
    }),
  });
  return {
    name: 'one write, through the stack',
    goal: 1.25,
    warmUp: longWarmUp,
    ours: candidate(tasks.pid, nginx),
    least: candidate(bare.pid, before),
  };
}

/** The cookie and the form token of a browser that has opened the list. */
async function openList(url: string) {
  const page = await fetch(url);
  const [cookie = ''] = page.headers.get('set-cookie')?.split(';') ?? [];
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  return { headers: { cookie }, token };
}

/** A hot link of `make up NATIVE=1`, all of its processes counted, against nginx's own `return`. */
async function nativeHotLink(running: AsyncDisposableStack): Promise<Pair> {
  const shortener = running.use(await startShortener());
  const folder = running.use(await mkdtempDisposable(join(tmpdir(), 'longhand-bench-')));
  const stack = running.use(await startNative(folder.path));
  const hot = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2`)}`;
  const edit = constant(await fetch(stack.url + hot, { headers: { connection: 'close' } }));
  const nginx = await startNginx(running, 'http://127.0.0.1:1', edit);
  return {
    name: 'hot link natively, all processes, against nginx’s `return`',
    // `return` takes 0.7 of it.
    goal: 1.43,
    ours: { processes: [stack.pid], load: httpLoad({ url: () => stack.url + hot }) },
    least: {
      processes: [nginx.pid],
      load: httpLoad({ url: () => `http://127.0.0.1:${nginx.ports.expander}${hot}` }),
    },
  };
}

async function startNative(folder: string): Promise<Program> {
  const main = join(import.meta.dirname, '..', '..', 'deploy', 'native', 'main.ts');
  const others = await freePorts('LONGHAND_PORT', 'LONGHAND_TASKS_PORT');
  return startProgram(main, (LONGHAND_EXPANDER_PORT) => ({
    args: ['up', folder],
    env: {
      LONGHAND_PORT: `${others.LONGHAND_PORT}`,
      LONGHAND_TASKS_PORT: `${others.LONGHAND_TASKS_PORT}`,
      LONGHAND_EXPANDER_PORT,
      LONGHAND_API_RATE: unlimited,
      EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
  }));
}

type Edit = (text: string, file: string) => string;
type Nginx = Awaited<ReturnType<typeof startNginx>>;

/**
 * Starts nginx as it is configured in the stack, before the tasks service at `tasks`. Its access log goes to /dev/null, as
 * do those of the services.
 *
 * @param edit changes each rendered file.
 */
async function startNginx(running: AsyncDisposableStack, tasks: string, edit: Edit = (text) => text) {
  const server = `${new URL(tasks).host} max_fails=0`;
  const nginx = await startTemporaryProxy(
    { LONGHAND_API_RATE: unlimited, LONGHAND_TASKS_SERVER: server },
    (text, file) => edit(text, file).replaceAll('../log/access.log', '/dev/null'),
  );
  running.defer(nginx.stop);
  return nginx;
}

/** nginx's own `return` at /api: as many bytes and the same headers as `response`, with the log and the limit of /api. */
function constant(response: Response): Edit {
  const headers = [...response.headers]
    .filter(([name]) => !/^(connection|keep-alive|date|content-(type|length|encoding))$/.test(name))
    .map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}";`);
  const body = 'x'.repeat(Number(response.headers.get('content-length')));
  const limit = 'limit_req zone=api burst=9999999 nodelay;';
  const location = `location = /api { gzip off; ${limit} ${headers.join(' ')} return 200 ${body}; }`;
  return (text, file) =>
    file === 'conf.d/expander.locations'
      ? `${location}\n${text.replace('location = /api {', 'location = /../replaced {')}`
      : text;
}
