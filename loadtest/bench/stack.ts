import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { Redis } from 'ioredis';
import { type HttpLoad, httpLoad } from './http-load.ts';
import { type Candidate, measurePairs, type Pair, type Report, type Rounds } from './measure.ts';
import { type Program, startLeast, startProgram, startService, startShortener } from './programs.ts';

/** A rate limit that is out of reach. */
const unlimited = '9999999r/s';
/** Until the code of a cold link and of a write is compiled. */
const longWarmUp = { warmUp: 6 };
/** Links that only Redis remembers: more than fit into the memory of an expander. */
const stored = 100_000;

/** What a request costs the process that answers it, beside the least code for the same. */
export async function measureStack(rounds: Rounds): Promise<Report> {
  await using running = new AsyncDisposableStack();
  const shortener = running.use(await startShortener());
  const pairs = [
    ...(await expansions(running, shortener)),
    ...(await lists(running)),
    await writes(running),
    await nativeHotLink(running, shortener),
  ];
  return { title: 'What a request costs', unit: 'CPU µs', rows: await measurePairs(pairs, rounds) };
}

/** What a load is sent to, and the process that answers it. */
type Server = Pick<Program, 'url' | 'pid'> & Pick<Candidate, 'others'>;

/** The same load on both. */
function pair(name: string, goal: number, ours: Server, least: Server, load: HttpLoad): Pair {
  const candidate = ({ url, ...server }: Server) => ({ ...server, load: httpLoad(url, load) });
  return { name, goal, ours: candidate(ours), least: candidate(least) };
}

async function expansions(running: AsyncDisposableStack, shortener: Program): Promise<Pair[]> {
  const expander = running.use(await startService('expander'));
  const api = (path: string) => `/api?u=${encodeURIComponent(shortener.url + path)}`;
  const hot = api('/chain/2?id=template');
  const bareRoute = running.use(await startLeast('constant', `${expander.url}/api`));
  const bareHot = running.use(await startLeast('constant', expander.url + hot));
  const bareRedis = running.use(await startLeast('redis', expander.redis.url));
  const follower = running.use(await startLeast('follow'));
  await copyEntries(expander.redis.url, 'template', await (await fetch(expander.url + hot)).text());
  const ours = { ...expander, others: { redis: expander.redis.pid } };
  let copy = 0;
  let id = 0;
  const fromRedis = () => api(`/chain/2?id=copy-${copy++ % stored}`);
  const cold = () => api(`/chain/5?id=${id++}`);
  return [
    pair('a route that does nothing', 2, ours, bareRoute, { path: () => '/api' }),
    pair('hot link, from memory', 1.8, ours, bareHot, { path: () => hot }),
    pair('from Redis', 3.5, ours, bareRedis, { path: fromRedis }),
    { ...pair('cold link, 5 redirects', 1.4, ours, follower, { path: cold }), ...longWarmUp },
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
  const before = async () => {
    const action = writes++ % 2 === 0 ? 'finish' : 'unfinish';
    await (await fetch(`${writer.url}/task/1/${action}`, { redirect: 'manual' })).text();
  };
  const ours = { ...tasks, others: { redis: tasks.redis.pid } };
  const load = { path: () => '/', headers };
  const oneWriter = { ...load, connections: 1, before };
  return [
    pair('list of 100, unchanged', 1.7, ours, bare, load),
    pair('list of 100, after every write (one connection)', 4, ours, bare, oneWriter),
  ];
}

async function writes(running: AsyncDisposableStack): Promise<Pair> {
  const tasks = running.use(await startService('tasks'));
  const bare = running.use(await startLeast('write', tasks.redis.url));
  const { headers, token } = await openList(tasks.url);
  const behind = async ({ url, pid }: Program): Promise<Server> => {
    const nginx = await startNginx(running, url);
    return { ...nginx.tasks, pid, others: { redis: tasks.redis.pid, nginx: nginx.tasks.pid } };
  };
  let id = 0;
  const load = {
    path: () => '/task',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: () => `title=Task+number+${id++}&_csrf=${token}`,
    status: 302,
  };
  const both = [await behind(tasks), await behind(bare)] as const;
  return { ...pair('one write, through the stack', 1.25, ...both, load), ...longWarmUp };
}

/** The cookie and the form token of a browser that has opened the list. */
async function openList(url: string) {
  const page = await fetch(url);
  const [cookie = ''] = page.headers.get('set-cookie')?.split(';') ?? [];
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  return { headers: { cookie }, token };
}

/** A hot link of `make up NATIVE=1`, all of its processes counted, against nginx's own `return`. */
async function nativeHotLink(running: AsyncDisposableStack, shortener: Program): Promise<Pair> {
  const folder = running.use(await mkdtempDisposable(join(tmpdir(), 'longhand-bench-')));
  const stack = running.use(await startNative(folder.path));
  const hot = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2`)}`;
  const edit = constant(await fetch(stack.url + hot, { headers: { connection: 'close' } }));
  const { expander } = await startNginx(running, 'http://127.0.0.1:1', edit);
  // `return` takes 0.7 of it.
  const goal = 1.43;
  const name = 'hot link natively, all processes, against nginx’s `return`';
  return pair(name, goal, stack, expander, { path: () => hot });
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

/**
 * Starts nginx as it is configured in the stack, before the tasks service at `tasks`. Its access log goes to /dev/null, as
 * do those of the services.
 *
 * @param edit changes each rendered file.
 */
async function startNginx(running: AsyncDisposableStack, tasks: string, edit: Edit = (text) => text) {
  const server = `${new URL(tasks).host} max_fails=0`;
  const { ports, pid, stop } = await startTemporaryProxy(
    { LONGHAND_API_RATE: unlimited, LONGHAND_TASKS_SERVER: server },
    (text, file) => edit(text, file).replaceAll('../stack.log', '/dev/null'),
  );
  running.defer(stop);
  const at = (port: number): Server => ({ url: `http://127.0.0.1:${port}`, pid });
  return { tasks: at(ports.tasks), expander: at(ports.expander) };
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
