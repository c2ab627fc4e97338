import { type HttpLoad, httpLoad } from './http-load.ts';
import { measurePairs, type Pair, type Report, type Rounds } from './measure.ts';
import { type Program, startPlain, startService, startShortener } from './programs.ts';

/** Tasks on the list that is read. */
const listed = 100;

/** What a request costs the process that answers it, ours and the plain one. */
export async function measureStack(rounds: Rounds): Promise<Report> {
  await using running = new AsyncDisposableStack();
  const shortener = running.use(await startShortener());
  const expander = running.use(await startService('expander'));
  const tasks = running.use(await startService('tasks'));
  const pairs = [
    ...expansions(expander, running.use(await startPlain('expander', expander.redis)), shortener),
    ...(await lists(tasks, running.use(await startPlain('tasks', tasks.redis)))),
  ];
  const rows = await measurePairs(pairs, rounds);
  return { title: 'What a request costs', unit: 'CPU µs', rows, facts: { redis: expander.version } };
}

/** The same load on both. */
function pair(name: string, ours: Program, plain: Program, load: (url: string) => HttpLoad): Pair {
  const candidate = ({ url, pid }: Program) => ({ pid, load: httpLoad(url, load(url)) });
  return { name, ours: candidate(ours), plain: candidate(plain) };
}

function expansions(ours: Program, plain: Program, shortener: Program): Pair[] {
  const api = (path: string) => `/api?u=${encodeURIComponent(shortener.url + path)}`;
  let id = 0;
  return [
    pair('a hot link', ours, plain, () => ({ path: () => api('/chain/2') })),
    pair('a cold link, 5 redirects', ours, plain, () => ({ path: () => api(`/chain/5?id=${id++}`) })),
  ];
}

async function lists(ours: Program, plain: Program): Promise<Pair[]> {
  const page = await fetch(ours.url);
  const [cookie = ''] = page.headers.get('set-cookie')?.split(';') ?? [];
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
  let id = 0;
  const body = () => `title=call+the+dentist+about+invoice+${id++}&_csrf=${token}`;
  const add = (url: string) =>
    fetch(`${url}/task`, { method: 'POST', redirect: 'manual', headers, body: body() });
  for (let i = 0; i < listed; i += 1) await Promise.all([ours, plain].map(({ url }) => add(url)));
  const list = { path: () => '/', headers };
  return [
    pair(`the list of ${listed}, unchanged`, ours, plain, () => list),
    pair('a write', ours, plain, () => ({ path: () => '/task', headers, body, status: 302 })),
    pair(`a write and the list of ${listed}, one after the other`, ours, plain, (url) => ({
      ...{ ...list, connections: 1 },
      before: () => add(url).then((response) => response.text()),
    })),
  ];
}
