import { connected, storeClient } from '@longhand/shared/redis.ts';
import { repair } from '../src/redis/repair.ts';
import { redisStore } from '../src/redis/store.ts';
import type { Task } from '../src/task/task.ts';
import { silent } from './store.ts';

/** Reads the store at `url` with a client of its own: what the storm left behind. */
export async function look(url: string) {
  const redis = storeClient({ REDIS_URL: url }, silent);
  try {
    await connected(redis, 5_000);
    const found: Task[] = [];
    for await (const batch of redisStore(redis).export()) found.push(...batch);
    return { found, faults: await repair(redis, false) };
  } finally {
    redis.disconnect();
  }
}
