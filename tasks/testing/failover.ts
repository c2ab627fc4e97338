import { setTimeout as sleep } from 'node:timers/promises';
import { connected, type StoreClient, storeClient } from '@longhand/shared/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { keys } from '../src/redis/keys.ts';
import { repair } from '../src/redis/repair.ts';
import { redisStore } from '../src/redis/store.ts';
import type { Task } from '../src/task/task.ts';
import { startSentinelRedis } from './sentinel.ts';
import { silent } from './store.ts';
import { storm } from './storm.ts';

export type Fault = 'killed' | 'hung' | 'cut off';

/** Milliseconds of writes before the fault, and after the failover. */
const writing = rounds({ short: 500, long: 1_000 });

export interface Outcome {
  /** Writes that were acknowledged. */
  acknowledged: number;
  /** What is not as it was acknowledged, each a sentence. */
  lost: string[];
  /** Milliseconds in which no write was acknowledged. */
  pause: number;
  faults: Awaited<ReturnType<typeof repair>>;
}

/**
 * Lets the primary of three Sentinels and two replicas fail in a storm of writes, of which each has to be confirmed by so
 * many replicas.
 */
export async function failover(fault: Fault, replicas: number): Promise<Outcome> {
  const redis = await startSentinelRedis('min-replicas-to-write 1', 'min-replicas-max-lag 10');
  const client = storeClient({ REDIS_URL: redis.url }, silent);
  try {
    await connected(client, 5_000);
    const store = redisStore(client, { replicas });
    const first = await identity(client);
    const weather = storm(store, () => sleep(100));
    await sleep(writing);
    if (fault === 'cut off') redis.cutOff();
    else redis.signal('primary', fault === 'hung' ? 'SIGSTOP' : 'SIGKILL');
    while ([first, ''].includes(await identity(client))) await sleep(50);
    await sleep(writing);
    await weather.end();
    const found: Task[] = [];
    for await (const batch of store.export()) found.push(...batch);
    const { count, pause } = weather.acknowledged();
    return { acknowledged: count, lost: weather.compare(found), pause, faults: await repair(client, false) };
  } finally {
    client.disconnect();
    await redis.stop();
  }
}

/** Which server has the tasks, as the client knows it; empty if none answers. */
async function identity(client: StoreClient): Promise<string> {
  const info = await client.eval("return redis.call('INFO', 'server')", 1, keys.version).catch(() => '');
  return /run_id:(\w+)/.exec(`${info}`)?.[1] ?? '';
}
