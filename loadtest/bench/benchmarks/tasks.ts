import { request } from 'undici';
import { type Child, startChild } from '../child.ts';
import { overHttp } from '../http-load.ts';
import { type Contender, compare, spread } from '../measure.ts';
import { oneByOne } from '../one-by-one.ts';
import type { Result } from '../report.ts';
import { type Service, startService } from '../services.ts';

export const title = 'Tasks: the list, writes, a bulk import';

const sizes = [100, 10_000, 100_000];
const imports = 3;

export async function run(): Promise<Result[]> {
  return [await imported(), await lists(), await writes()];
}

/** A file of 100 000 titles, several times over. */
async function imported(): Promise<Result> {
  const count = 100_000;
  const service = await startService('tasks');
  try {
    const seconds: number[] = [];
    for (let i = 0; i < imports; i += 1) seconds.push(await fill(service, count));
    const time = spread(seconds);
    const written = (value: number) => value.toFixed(2);
    return {
      title: `Import of ${count.toLocaleString('en')} tasks in one request`,
      columns: ['', 'seconds', 'lowest to highest', 'tasks a second'],
      rows: [
        [
          'ours',
          written(time.median),
          `${written(time.min)} to ${written(time.max)}`,
          Math.round(count / time.median).toLocaleString('en'),
        ],
      ],
      plot: { unit: 'seconds', bars: [{ name: 'import', ...time }] },
      goals: [{ text: 'seconds for 100 000 tasks', measured: time.median, atMost: 10 }],
      data: seconds,
    };
  } finally {
    await service.stop();
  }
}

async function lists(): Promise<Result> {
  const services: Service[] = [];
  const stops: { stop(): Promise<void> }[] = [];
  const keep = <Started extends { stop(): Promise<void> }>(started: Started) => {
    stops.push(started);
    return started;
  };
  try {
    for (const size of sizes) {
      const service = keep(await startService('tasks'));
      await fill(service, size);
      services.push(service);
    }
    const small = services[0] as Service;
    const headers = { cookie: (await openSession(small.url)).cookie };
    const page = await (await fetch(small.url, { headers })).text();
    const ceiling = keep(await startChild('constant.ts', `${Buffer.byteLength(page)}`));
    const writer = keep(await startService('tasks', small.redis));
    const list = (name: string, service: Service): Contender =>
      overHttp({
        name,
        url: service.url,
        headers,
        processes: { service: service.pid, redis: service.redis.pid },
      });
    return await compare({
      title: `The first page (${Buffer.byteLength(page).toLocaleString('en')} bytes), unchanged and after every write`,
      contenders: [
        overHttp({ name: 'bare Hono route', url: ceiling.url, processes: { service: ceiling.pid } }),
        ...services.map((service, i) => list(`of ${sizes[i]?.toLocaleString('en')}`, service)),
        afterWrites('bare, after a write', ceiling.url, ceiling.pid, {}, writer.url),
        afterWrites('of 100, after a write', small.url, small.pid, headers, writer.url),
      ],
      reference: 'bare Hono route',
      goals: [
        {
          text: 'list of 100, unchanged: throughput against the bare Hono route',
          value: (of) => of('of 100').perSecond.median / of('bare Hono route').perSecond.median,
          atLeast: 0.5,
        },
        {
          text: 'list of 100, after every write: throughput against the bare Hono route, one at a time',
          value: (of) =>
            of('of 100, after a write').perSecond.median / of('bare, after a write').perSecond.median,
          atLeast: 0.25,
        },
        {
          text: 'time of a page at 100 000 tasks against one at 100',
          value: (of) => of('of 100').perSecond.median / of('of 100,000').perSecond.median,
          atMost: 1.2,
        },
        {
          text: 'CPU of a page at 100 000 tasks against one at 100',
          value: (of) => (of('of 100,000').cpu.total?.median ?? 0) / (of('of 100').cpu.total?.median ?? 0),
          atMost: 1.2,
        },
      ],
    });
  } finally {
    await Promise.all(stops.map((one) => one.stop()));
  }
}

/** One request at a time, and before each, unmeasured, a write through another process on the same store. */
function afterWrites(
  name: string,
  url: string,
  pid: number,
  headers: Record<string, string>,
  writer: string,
): Contender {
  let turns = 0;
  return {
    name,
    processes: { service: pid },
    load: (seconds) =>
      oneByOne(seconds, {
        async before() {
          const { body } = await request(`${writer}/task/1/${turns++ % 2 === 0 ? 'finish' : 'unfinish'}`);
          await body.dump();
        },
        async request() {
          const { statusCode, body } = await request(url, { headers });
          await body.dump({ limit: 1e9 });
          return statusCode === 200;
        },
      }),
  };
}

async function writes(): Promise<Result> {
  const service = await startService('tasks');
  const { cookie, token } = await openSession(service.url);
  const bare: Child = await startChild('writer.ts', service.redis.url);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  let count = 0;
  const title = () => `title=Task+number+${count++}`;
  const redis = { redis: service.redis.pid };
  try {
    return await compare({
      title: 'Writes on disk (appendfsync always), 32 at a time',
      contenders: [
        overHttp({
          name: 'bare HSET and ZADD',
          url: bare.url,
          method: 'POST',
          headers,
          body: title,
          status: 302,
          processes: { service: bare.pid, ...redis },
        }),
        overHttp({
          name: 'ours',
          url: `${service.url}/task`,
          method: 'POST',
          headers: { ...headers, cookie },
          body: () => `${title()}&_csrf=${token}`,
          status: 302,
          processes: { service: service.pid, ...redis },
        }),
      ],
      reference: 'bare HSET and ZADD',
      goals: [
        {
          text: 'throughput against the bare transaction',
          value: (of) => of('ours').perSecond.median / of('bare HSET and ZADD').perSecond.median,
          atLeast: 0.7,
        },
      ],
    });
  } finally {
    await Promise.all([service.stop(), bare.stop()]);
  }
}

/** Imports `count` tasks and returns the seconds that it took. */
async function fill({ url }: Service, count: number): Promise<number> {
  const body = Array.from({ length: count }, (_, i) => `Task number ${i}, which is to be done\n`).join('');
  const started = performance.now();
  const answer = await fetch(`${url}/tasks/import`, {
    method: 'POST',
    headers: {
      'Content-Type': 'text/plain',
      Accept: 'application/json',
      'Sec-Fetch-Site': 'same-origin',
    },
    body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The import answers ${answer.status}: ${text}`);
  return (performance.now() - started) / 1_000;
}

/** The cookie and the token that a browser has once it has seen the page. */
async function openSession(url: string): Promise<{ cookie: string; token: string }> {
  const page = await fetch(url);
  const [cookie = ''] = page.headers.get('set-cookie')?.split(';') ?? [];
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  return { cookie, token };
}
