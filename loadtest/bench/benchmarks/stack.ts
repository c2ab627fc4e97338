import { httpCandidate } from '../http-candidate.ts';
import { compare, type Measurement, throughputRatio } from '../measure.ts';
import { constant, startNginx } from '../nginx.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';
import { importTasks, openSession } from '../tasks-session.ts';
import { startWorker } from '../worker.ts';

export const title = 'Through the stack: what users get';

/** Redirects of every cold link. */
const hops = 5;
/** What browsers accept over plain HTTP. */
const gzip = { 'accept-encoding': 'gzip, deflate' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Each request as users send it, next to its ceiling. The guard, the limits and the logs are on. */
export async function run(): Promise<Result[]> {
  const running: { stop(): Promise<void> }[] = [];
  const keep = async <Started extends { stop(): Promise<void> }>(starting: Promise<Started>) => {
    const started = await starting;
    running.unshift(started);
    return started;
  };
  try {
    const shortener = await keep(startWorker('shortener.ts'));
    const expander = await keep(startService('expander'));
    const lists = await keep(startService('tasks'));
    const writes = await keep(startService('tasks'));
    const hot = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?hot`)}`;
    const expansion = await fetch(expander.url + hot);
    await importTasks(lists, 100);
    const page = await fetch(lists.url);
    const file = /href="(\/public\/[^"]+\.css)"/.exec(await page.clone().text())?.[1] ?? '';
    const style = await fetch(lists.url + file, { headers: gzip });

    const follower = await keep(startWorker('redirect-follower.ts', 'undici'));
    const bareList = await keep(startWorker('bare-route.ts', lists.url));
    const bareWrite = await keep(startWorker('bare-write.ts', writes.redis.url));
    const ours = await keep(startNginx({ expander: expander.url, tasks: lists.url }));
    const ceiling = await keep(
      startNginx({ tasks: bareList.url }, await constant({ '/api': expansion, [file]: style })),
    );
    const writing = await keep(startNginx({ tasks: writes.url }));
    const bareWriting = await keep(startNginx({ tasks: bareWrite.url }));

    const list = await openSession(lists.url);
    const writer = await openSession(writes.url);
    let id = 0;
    const coldPath = (path: string) =>
      `${path}?u=${encodeURIComponent(`${shortener.url}/chain/${hops}?id=${id++}`)}`;
    const ourExpander = { expander: expander.pid, redis: expander.redis.pid };
    const ourTasks = { nginx: ours.pid, tasks: lists.pid, redis: lists.redis.pid };
    const bareTasks = { nginx: ceiling.pid, 'bare route': bareList.pid };
    const title = () => `title=Task+number+${id++}`;

    return [
      await compare({
        title: 'Each request at saturation, and its ceiling: what the least code takes for the same',
        candidates: [
          httpCandidate({
            name: 'hot link',
            url: ours.urls.expander + hot,
            processes: { nginx: ours.pid, ...ourExpander },
            ceiling: '– `return` of nginx',
          }),
          httpCandidate({
            name: '– `return` of nginx',
            url: ceiling.urls.expander + hot,
            processes: { nginx: ceiling.pid },
          }),
          httpCandidate({
            name: '– the service directly',
            url: expander.url + hot,
            processes: ourExpander,
            ceiling: '– `return` of nginx',
          }),
          httpCandidate({
            name: `cold link, ${hops} redirects`,
            url: ours.urls.expander,
            path: () => coldPath('/api'),
            connections: 50,
            processes: { nginx: ours.pid, ...ourExpander },
            ceiling: '– bare follower on undici',
          }),
          httpCandidate({
            name: '– bare follower on undici',
            url: follower.url,
            path: () => coldPath('/'),
            connections: 50,
            processes: { follower: follower.pid },
          }),
          httpCandidate({
            name: 'list of 100',
            url: ours.urls.tasks,
            headers: list.headers,
            processes: ourTasks,
            ceiling: '– constant page',
          }),
          httpCandidate({ name: '– constant page', url: ceiling.urls.tasks, processes: bareTasks }),
          httpCandidate({
            name: 'list of 100, gzip',
            url: ours.urls.tasks,
            headers: { ...list.headers, ...gzip },
            processes: ourTasks,
            ceiling: '– constant page, gzip',
          }),
          httpCandidate({
            name: '– constant page, gzip',
            url: ceiling.urls.tasks,
            headers: gzip,
            processes: bareTasks,
          }),
          httpCandidate({
            name: 'one write',
            url: `${writing.urls.tasks}/task`,
            method: 'POST',
            headers: { ...form, ...writer.headers },
            body: () => `${title()}&_csrf=${writer.token}`,
            status: 302,
            processes: { nginx: writing.pid, tasks: writes.pid, redis: writes.redis.pid },
            ceiling: '– bare transaction',
          }),
          httpCandidate({
            name: '– bare transaction',
            url: bareWriting.urls.tasks,
            method: 'POST',
            headers: form,
            body: title,
            status: 302,
            processes: { nginx: bareWriting.pid, 'bare route': bareWrite.pid, redis: writes.redis.pid },
          }),
          httpCandidate({
            name: 'static file, gzip',
            url: ours.urls.tasks + file,
            headers: gzip,
            processes: { nginx: ours.pid, tasks: lists.pid },
            ceiling: '– `return` of that length',
          }),
          httpCandidate({
            name: '– `return` of that length',
            url: ceiling.urls.tasks + file,
            headers: gzip,
            processes: { nginx: ceiling.pid },
          }),
        ],
        goals: [
          {
            text: 'hot link: CPU of `return` against it',
            value: (of) => of('– `return` of nginx').totalCpu.median / of('hot link').totalCpu.median,
            atLeast: 0.7,
          },
          {
            text: 'hot link: CPU against the service directly',
            value: (of) => of('hot link').totalCpu.median / of('– the service directly').totalCpu.median,
            atMost: 0.9,
          },
          {
            text: 'cold link: CPU of the bare follower against it, without nginx’s share',
            value: (of) =>
              of('– bare follower on undici').totalCpu.median /
              withoutNginx(of(`cold link, ${hops} redirects`)),
            atLeast: 0.7,
          },
          {
            text: 'one write: throughput against the bare transaction',
            value: throughputRatio('one write', '– bare transaction'),
            atLeast: 0.7,
          },
        ],
      }),
    ];
  } finally {
    for (const { stop } of running) await stop();
  }
}

const withoutNginx = ({ totalCpu, cpu }: Measurement) => totalCpu.median - (cpu.nginx?.median ?? 0);
