import { Redis } from 'ioredis';
import { httpCandidate } from '../http-candidate.ts';
import { type Candidate, compare, throughputRatio } from '../measure.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';
import { startWorker } from '../worker.ts';

export const title = 'Expander: cold links, hot links, and links that only Redis remembers';

/** Redirects of every chain that is followed cold. */
const hops = 5;
/** What follows them, and how. */
const followers = {
  'bare follower on undici': 'undici',
  'bare follower on node:http': 'node',
  'bare follower on our client': 'client',
  ours: 'ours',
  tall: 'tall',
};
/** Links that only Redis remembers: more than are requested in all rounds. */
const stored = 600_000;

export async function run(): Promise<Result[]> {
  return [await cold(), await warm()];
}

async function cold(): Promise<Result> {
  await using shortener = await startWorker('shortener.ts');
  await using running = new AsyncDisposableStack();
  const candidates: Candidate[] = [];
  let id = 0;
  for (const [name, way] of Object.entries(followers)) {
    const { url, pid } = running.use(await startWorker('redirect-follower.ts', way));
    const candidate = httpCandidate({
      name,
      url,
      path: () => `/?u=${encodeURIComponent(`${shortener.url}/chain/${hops}?id=${id++}`)}`,
      connections: 50,
      processes: { [name]: pid },
      connectionsOpened: () => shortener.call('connections'),
    });
    candidates.push(candidate);
  }
  return await compare({
    title: `Cold: ${hops} redirects of the local shortener, 50 at a time, nothing cached`,
    candidates,
    baseline: 'bare follower on undici',
    goals: [
      {
        text: 'throughput against the bare follower on node:http',
        value: throughputRatio('ours', 'bare follower on node:http'),
        atLeast: 0.85,
      },
      { text: 'throughput against tall', value: throughputRatio('ours', 'tall'), atLeast: 3 },
      {
        text: 'connections opened per expansion after the warm-up',
        value: (of) => of('ours').opened?.median ?? Number.NaN,
        atMost: 0,
      },
    ],
  });
}

async function warm(): Promise<Result> {
  await using shortener = await startWorker('shortener.ts');
  await using expander = await startService('expander');
  const link = (id: string) => `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?id=${id}`)}`;
  const template = 'template-link';
  await using bare = await startWorker('bare-route.ts', expander.url + link(template));
  const ours = { service: expander.pid, redis: expander.redis.pid };
  const hot = (name: string, url: string, processes: Record<string, number>) =>
    httpCandidate({ name, url: url + link(template), processes });
  /** Its requests differ, which costs the load generator more: compare it with another one of this kind. */
  const fresh = (name: string, url: string, processes: Record<string, number>) => {
    let id = 0;
    return httpCandidate({ name, url, path: () => link(`copy-${id++}`), processes });
  };
  await copyEntries(expander.redis.url, template, stored);
  return await compare({
    title: 'Warm: /api with two redirects, remembered in memory (a hot link) or in Redis alone',
    candidates: [
      hot('bare route', bare.url, { service: bare.pid }),
      hot('hot link', expander.url, ours),
      fresh('bare route, each URL new', bare.url, { service: bare.pid }),
      fresh('from Redis', expander.url, ours),
    ],
    baseline: 'bare route',
    goals: [
      {
        text: 'from Redis alone: throughput against the bare Hono route',
        value: throughputRatio('from Redis', 'bare route, each URL new'),
        atLeast: 0.6,
      },
    ],
  });
}

/** Copies what the expander stored for one link to `count` others, without asking the shortener for each. */
async function copyEntries(url: string, template: string, count: number): Promise<void> {
  const redis = new Redis(url);
  try {
    const entries: [key: string, value: string][] = [];
    for (const key of await redis.keys(`*chain/2?id=${template}`)) {
      entries.push([key, (await redis.get(key)) ?? '']);
    }
    if (entries.length === 0) throw new Error('The expander stored nothing in Redis.');
    for (let start = 0; start < count; start += 10_000) {
      const batch = redis.pipeline();
      for (let i = start; i < Math.min(count, start + 10_000); i += 1) {
        const copy = (text: string) => text.replaceAll(template, `copy-${i}`);
        for (const [key, value] of entries) batch.set(copy(key), copy(value), 'EX', 3_600);
      }
      await batch.exec();
    }
  } finally {
    redis.disconnect();
  }
}
