import { request } from 'undici';
import { closedLoop } from '../closed-loop.ts';
import { httpCandidate } from '../http-candidate.ts';
import { type Candidate, compare, cpuRatio, spread, spreadTable, throughputRatio } from '../measure.ts';
import { integer, type Result } from '../report.ts';
import { type Service, startService } from '../services.ts';
import { importTasks, openSession } from '../tasks-session.ts';
import { startWorker } from '../worker.ts';

export const title = 'Tasks: the list, a bulk import';

const sizes = [100, 10_000, 100_000];
const imports = 3;

export async function run(): Promise<Result[]> {
  return [await bulkImport(), await lists()];
}

/** Imports a file of 100,000 titles, several times over. */
async function bulkImport(): Promise<Result> {
  const count = 100_000;
  await using service = await startService('tasks');
  const seconds: number[] = [];
  for (let i = 0; i < imports; i += 1) seconds.push(await importTasks(service, count));
  const title = `Import of ${integer(count)} tasks in one request`;
  const goals = [{ text: 'seconds for 100,000 tasks', measured: spread(seconds).median, atMost: 10 }];
  return spreadTable({ title, unit: 'seconds', digits: 2, goals }, { ours: seconds });
}

async function lists(): Promise<Result> {
  await using running = new AsyncDisposableStack();
  const services: Service[] = [];
  for (const size of sizes) {
    const service = running.use(await startService('tasks'));
    services.push(service);
    await importTasks(service, size);
  }
  const small = services[0] as Service;
  const { headers } = await openSession(small.url);
  const bytes = Buffer.byteLength(await (await fetch(small.url, { headers })).text());
  await using bare = await startWorker('bare-route.ts', small.url);
  await using writer = await startService('tasks', small.redis);
  return await compare({
    title: `The first page (${integer(bytes)} bytes), unchanged and after every write`,
    candidates: [
      httpCandidate({ name: 'bare route', url: bare.url, processes: { service: bare.pid } }),
      ...services.map(({ url, pid, redis }, i) => {
        const processes = { service: pid, redis: redis.pid };
        return httpCandidate({ name: `of ${integer(sizes[i] ?? 0)}`, url, headers, processes });
      }),
      afterEachWrite('bare route, after a write', bare, {}, writer),
      afterEachWrite('of 100, after a write', small, headers, writer),
    ],
    baseline: 'bare route',
    goals: [
      {
        text: 'list of 100, unchanged: throughput against the bare Hono route',
        value: throughputRatio('of 100', 'bare route'),
        atLeast: 0.5,
      },
      {
        text: 'list of 100, after every write: throughput against the bare Hono route, one at a time',
        value: throughputRatio('of 100, after a write', 'bare route, after a write'),
        atLeast: 0.25,
      },
      {
        text: 'time of a page at 100,000 tasks against one at 100',
        value: throughputRatio('of 100', 'of 100,000'),
        atMost: 1.2,
      },
      {
        text: 'CPU of a page at 100,000 tasks against one at 100',
        value: cpuRatio('of 100,000', 'of 100'),
        atMost: 1.2,
      },
    ],
  });
}

/** One request at a time, each after an unmeasured write by another process on the same store. */
function afterEachWrite(
  name: string,
  { url, pid }: { url: string; pid: number },
  headers: Record<string, string>,
  writer: Service,
): Candidate {
  let writes = 0;
  return {
    name,
    processes: { service: pid },
    load: (seconds) =>
      closedLoop(seconds, {
        async before() {
          const action = writes++ % 2 === 0 ? 'finish' : 'unfinish';
          await (await request(`${writer.url}/task/1/${action}`)).body.dump();
        },
        async request() {
          const { statusCode, body } = await request(url, { headers });
          await body.dump({ limit: 1e9 });
          return statusCode === 200;
        },
      }),
  };
}
