import { Redis } from 'ioredis';
import { type Child, startChild } from '../child.ts';
import { overHttp } from '../http-load.ts';
import { compare } from '../measure.ts';
import type { Result } from '../report.ts';
import { startService } from '../services.ts';

export const title = 'Expander: cold, warm, and what holds them up';

/** Redirects of every chain that is followed cold. */
const hops = 5;
/** Links that only Redis knows: more than are asked for in all rounds. */
const stored = 600_000;

export async function run(): Promise<Result[]> {
  return [await cold(), await warm()];
}

async function cold(): Promise<Result> {
  const shortener = await startChild('shortener.ts');
  const followers = await Promise.all(['ours', 'bare', 'tall'].map((way) => startChild('follower.ts', way)));
  const [ours, bare, tall] = followers as [Child, Child, Child];
  let id = 0;
  const path = () => `/?u=${encodeURIComponent(`${shortener.url}/chain/${hops}?id=${id++}`)}`;
  const contender = (name: string, { url, pid }: Child) =>
    overHttp({
      name,
      url,
      path,
      users: 50,
      processes: { [name]: pid },
      opened: () => shortener.ask('connections'),
    });
  try {
    return await compare({
      title: `Cold: ${hops} redirects of the local shortener, 50 at a time, nothing cached`,
      contenders: [contender('bare follower', bare), contender('ours', ours), contender('tall', tall)],
      reference: 'bare follower',
      goals: [
        {
          text: 'throughput against the bare keep-alive follower',
          value: (of) => of('ours').perSecond.median / of('bare follower').perSecond.median,
          atLeast: 0.85,
        },
        {
          text: 'throughput against tall',
          value: (of) => of('ours').perSecond.median / of('tall').perSecond.median,
          atLeast: 3,
        },
        {
          text: 'connections opened an expansion after the warm-up',
          value: (of) => of('ours').opened?.median ?? Number.NaN,
          atMost: 0,
        },
      ],
    });
  } finally {
    await Promise.all([...followers, shortener].map((child) => child.stop()));
  }
}

async function warm(): Promise<Result> {
  const shortener = await startChild('shortener.ts');
  const expander = await startService('expander');
  const { url, redis } = expander;
  const template = 'template-of-all';
  const link = (id: string) => `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?id=${id}`)}`;
  /** The same question, put to the bare route. */
  const bare = (path: string) => path.replace('/api', '/');
  const ceiling = await startChild('constant.ts', `${`${shortener.url}/chain/0?id=${template}`.length}`);
  let id = 0;
  let copy = 0;
  try {
    await (await fetch(url + link(template))).text();
    await copyEntries(redis.url, template, stored);
    return await compare({
      title: 'Warm: /api with two redirects, answered from memory or from Redis alone',
      contenders: [
        overHttp({
          name: 'bare Hono route',
          url: ceiling.url + bare(link(template)),
          processes: { service: ceiling.pid },
        }),
        overHttp({
          name: 'from memory',
          url: url + link(template),
          processes: { service: expander.pid, redis: redis.pid },
        }),
        // Like is compared with like: to make each request anew costs the generator more than to repeat one.
        overHttp({
          name: 'bare, each URL new',
          url: ceiling.url,
          path: () => bare(link(`copy-${id++}`)),
          processes: { service: ceiling.pid },
        }),
        overHttp({
          name: 'from Redis',
          url,
          path: () => link(`copy-${copy++}`),
          processes: { service: expander.pid, redis: redis.pid },
        }),
      ],
      reference: 'bare Hono route',
      goals: [
        {
          text: 'from memory: throughput against the bare Hono route',
          value: (of) => of('from memory').perSecond.median / of('bare Hono route').perSecond.median,
          atLeast: 0.8,
        },
        {
          text: 'from Redis alone: throughput against the bare Hono route',
          value: (of) => of('from Redis').perSecond.median / of('bare, each URL new').perSecond.median,
          atLeast: 0.6,
        },
      ],
    });
  } finally {
    await Promise.all([expander, ceiling, shortener].map((one) => one.stop()));
  }
}

/** Copies what the expander stored for one link to `count` others, without asking the shortener for each. */
async function copyEntries(url: string, template: string, count: number): Promise<void> {
  const redis = new Redis(url);
  try {
    const entries: [key: string, value: string][] = [];
    for (const key of await redis.keys(`*chain/2?id=${template}`))
      entries.push([key, (await redis.get(key)) ?? '']);
    if (entries.length === 0) throw new Error('The expander stored nothing in Redis.');
    for (let start = 0; start < count; start += 10_000) {
      const batch = redis.pipeline();
      for (let i = start; i < Math.min(count, start + 10_000); i += 1) {
        const named = (text: string) => text.replaceAll(template, `copy-${i}`);
        for (const [key, value] of entries) batch.set(named(key), named(value), 'EX', 3_600);
      }
      await batch.exec();
    }
  } finally {
    redis.disconnect();
  }
}
