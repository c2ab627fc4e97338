import { type HttpCandidate, httpCandidate } from '../http-candidate.ts';
import { type Candidate, compare, cpuRatio, throughputRatio } from '../measure.ts';
import { constant, startNginx } from '../nginx.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';
import { importTasks, openSession } from '../tasks-session.ts';
import { startWorker } from '../worker.ts';

export const title = 'Through the stack: what users get';

/** Redirects of every cold link. */
const hops = 5;
/** Seconds until the code of a cold link and of a write is compiled, for them and for their ceilings. */
const warmUp = 6;
/** What browsers accept over plain HTTP. */
const gzip = { 'accept-encoding': 'gzip, deflate' };

const hot = {
  ours: 'hot link',
  ceiling: '– `return` of nginx',
  direct: '– the service directly',
};
const cold = { ours: `cold link, ${hops} redirects`, ceiling: '– bare follower on undici' };
const list = { ours: 'list of 100', ceiling: '– constant page' };
const zipped = { ours: 'list of 100, gzip', ceiling: '– constant page, gzip' };
const file = { ours: 'static file, gzip', ceiling: '– `return` of that length' };
const write = { ours: 'one write', ceiling: '– bare transaction' };

/** A request, and what the least code takes for the same. */
const beside = (
  { ours, ceiling }: { ours: string; ceiling: string },
  request: Omit<HttpCandidate, 'name'>,
  least: Omit<HttpCandidate, 'name'>,
) => [httpCandidate({ ...request, name: ours, ceiling }), httpCandidate({ ...least, name: ceiling })];

/** Each request as users send it, next to its ceiling. The guard, the limits and the logs are on. */
export async function run(): Promise<Result[]> {
  await using running = new AsyncDisposableStack();
  const candidates = [...(await expansions(running)), ...(await lists(running)), ...(await writes(running))];
  const result = await compare({
    title: 'Each request at saturation, and below it what the least code takes for the same',
    candidates,
    goals: [
      {
        text: 'hot link: CPU of nginx’s `return` against it',
        value: cpuRatio(hot.ceiling, hot.ours),
        atLeast: 0.7,
      },
      {
        text: 'hot link: CPU against the service directly',
        value: cpuRatio(hot.ours, hot.direct),
        atMost: 0.9,
      },
      {
        text: 'cold link: CPU of the bare follower against it, without nginx’s share',
        value: (of) => {
          const { totalCpu, cpu } = of(cold.ours);
          return of(cold.ceiling).totalCpu.median / (totalCpu.median - (cpu.nginx?.median ?? 0));
        },
        atLeast: 0.7,
      },
      {
        text: 'one write: throughput against the bare transaction',
        value: throughputRatio(write.ours, write.ceiling),
        atLeast: 0.7,
      },
    ],
  });
  return [result];
}

async function expansions(running: AsyncDisposableStack): Promise<Candidate[]> {
  const shortener = running.use(await startWorker('shortener.ts'));
  const expander = running.use(await startService('expander'));
  const follower = running.use(await startWorker('redirect-follower.ts', 'undici'));
  const link = (path: string) => `?u=${encodeURIComponent(shortener.url + path)}`;
  const hotPath = `/api${link('/chain/2?hot')}`;
  const nginx = running.use(await startNginx({ expander: expander.url }));
  const ceiling = running.use(
    await startNginx({}, await constant({ '/api': await fetch(expander.url + hotPath) })),
  );

  const services = { expander: expander.pid, redis: expander.redis.pid };
  const ours = { nginx: nginx.pid, ...services };
  let id = 0;
  const coldLink = () => link(`/chain/${hops}?id=${id++}`);
  const hotLink = (name: string, url: string, processes: Record<string, number>) =>
    httpCandidate({ name, url: url + hotPath, processes, ceiling: hot.ceiling });
  return [
    hotLink(hot.ours, nginx.urls.expander, ours),
    hotLink(hot.ceiling, ceiling.urls.expander, { nginx: ceiling.pid }),
    hotLink(hot.direct, expander.url, services),
    ...beside(
      cold,
      { url: nginx.urls.expander, path: () => `/api${coldLink()}`, connections: 50, processes: ours, warmUp },
      {
        url: follower.url,
        path: () => `/${coldLink()}`,
        connections: 50,
        processes: { follower: follower.pid },
        warmUp,
      },
    ),
  ];
}

async function lists(running: AsyncDisposableStack): Promise<Candidate[]> {
  const tasks = running.use(await startService('tasks'));
  await importTasks(tasks, 100);
  const [filePath = ''] = /\/public\/[^"]+\.css/.exec(await (await fetch(tasks.url)).text()) ?? [];
  const bare = running.use(await startWorker('bare-route.ts', tasks.url));
  const nginx = running.use(await startNginx({ tasks: tasks.url }));
  const style = await fetch(tasks.url + filePath, { headers: gzip });
  const ceiling = running.use(await startNginx({ tasks: bare.url }, await constant({ [filePath]: style })));

  const { headers } = await openSession(tasks.url);
  const ours = { nginx: nginx.pid, tasks: tasks.pid, redis: tasks.redis.pid };
  const least = { nginx: ceiling.pid, 'bare route': bare.pid };
  return [
    ...beside(
      list,
      { url: nginx.urls.tasks, headers, processes: ours },
      { url: ceiling.urls.tasks, processes: least },
    ),
    ...beside(
      zipped,
      { url: nginx.urls.tasks, headers: { ...headers, ...gzip }, processes: ours },
      { url: ceiling.urls.tasks, headers: gzip, processes: least },
    ),
    ...beside(
      file,
      { url: nginx.urls.tasks + filePath, headers: gzip, processes: { nginx: nginx.pid, tasks: tasks.pid } },
      { url: ceiling.urls.tasks + filePath, headers: gzip, processes: { nginx: ceiling.pid } },
    ),
  ];
}

async function writes(running: AsyncDisposableStack): Promise<Candidate[]> {
  const tasks = running.use(await startService('tasks'));
  const bare = running.use(await startWorker('bare-write.ts', tasks.redis.url));
  const nginx = running.use(await startNginx({ tasks: tasks.url }));
  const ceiling = running.use(await startNginx({ tasks: bare.url }));

  const { headers, token } = await openSession(tasks.url);
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  const redis = tasks.redis.pid;
  let id = 0;
  const post = (url: string, processes: Record<string, number>) => ({
    url,
    method: 'POST' as const,
    headers: form,
    body: () => `title=Task+number+${id++}&_csrf=${token}`,
    status: 302,
    processes,
    warmUp,
  });
  return beside(
    write,
    post(`${nginx.urls.tasks}/task`, { nginx: nginx.pid, tasks: tasks.pid, redis }),
    post(ceiling.urls.tasks, { nginx: ceiling.pid, 'bare route': bare.pid, redis }),
  );
}
