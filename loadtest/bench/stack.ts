import { setTimeout as sleep } from 'node:timers/promises';
import { type Planned, send, startLoad } from '../load-generator.ts';
import { type LoadResult, measurePairs, type Pair, type Report } from './measure.ts';
import { type Program, startPlain, startService, startShortener } from './programs.ts';

const listed = 100;

/** Compares the CPU time of requests. */
export async function measureStack(): Promise<Report> {
  await using running = new AsyncDisposableStack();
  const shortener = running.use(await startShortener());
  const expander = running.use(await startService('expander'));
  const tasks = running.use(await startService('tasks'));
  const pairs = [
    ...expansions(expander, running.use(await startPlain('expander', expander.redis)), shortener),
    ...(await lists(tasks, running.use(await startPlain('tasks', tasks.redis)))),
  ];
  const rows = await measurePairs(pairs);
  return { title: 'CPU time per request', unit: 'CPU µs', rows };
}

/** Puts our service and the plain service under the same load. */
function pair(name: string, ours: Program, plain: Program, next: Next, connections = 32): Pair {
  const candidate = ({ url, pid }: Program) => ({
    pid,
    async load(seconds: number): Promise<LoadResult> {
      const started = performance.now();
      const load = startLoad(() => next(url), { connections });
      await sleep(seconds * 1_000);
      const sent = await load.stop();
      const failed = sent.filter(({ right }) => !right).length;
      return { requests: sent.length, failed, seconds: (performance.now() - started) / 1_000 };
    },
  });
  return { name, ours: candidate(ours), plain: candidate(plain) };
}

/** Returns the next request to the program at `url`. */
type Next = (url: string) => Planned | Promise<Planned>;

function expansions(ours: Program, plain: Program, shortener: Program): Pair[] {
  const api = (url: string, path: string) => ({
    url: `${url}/api?u=${encodeURIComponent(shortener.url + path)}`,
  });
  let id = 0;
  return [
    pair('a hot link', ours, plain, (url) => api(url, '/chain/2')),
    pair('a cold link, 5 redirects', ours, plain, (url) => api(url, `/chain/5?id=${id++}`)),
  ];
}

async function lists(ours: Program, plain: Program): Promise<Pair[]> {
  const page = await fetch(ours.url);
  const [cookie = ''] = page.headers.get('set-cookie')?.split(';') ?? [];
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
  let id = 0;
  const list = (url: string) => ({ url, headers });
  const write = (url: string) => {
    const body = `title=call+the+dentist+about+invoice+${id++}&_csrf=${token}`;
    return { url: `${url}/task`, headers, body, expected: 302 };
  };
  for (let i = 0; i < listed; i += 1) await Promise.all([ours, plain].map(({ url }) => send(write(url))));
  const both = async (url: string) => {
    await send(write(url));
    return list(url);
  };
  return [
    pair(`the list of ${listed}, unchanged`, ours, plain, list),
    pair('a write', ours, plain, write),
    pair(`a write, then the list of ${listed}`, ours, plain, both, 1),
  ];
}
