import { createLog } from '@longhand/shared/log.ts';
import { connected, storeClient } from '@longhand/shared/redis.ts';
import { type startRedis, startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { redisStore } from '../src/redis/store.ts';
import type { Task, TaskStore } from '../src/task/task.ts';

export const configuration = `${import.meta.dirname}/../redis.conf`;

export const silent = createLog('tasks', 'silent');

/** All tasks by ascending `_id`. */
export const allTasks = async (store: TaskStore): Promise<Task[]> =>
  (await Array.fromAsync(store.export())).flat();

type Kept = Awaited<ReturnType<typeof startStore>>;

/** Starts a store for all tests of a file. Each test starts with an empty store. */
export function useStore(start: typeof startRedis = startRedisProcess): Kept {
  const kept = {} as Kept;
  beforeAll(async () => {
    Object.assign(kept, await startStore(start));
  });
  beforeEach(async () => void (await kept.empty()));
  afterAll(() => kept.stop());
  return kept;
}

/** Starts a store in its own Redis, with the production configuration. */
export async function startStore(start: typeof startRedis = startRedisProcess) {
  const server = await start(configuration);
  const redis = storeClient({ REDIS_URL: server.url }, silent);
  // The product waits for 1 s. A machine that runs all tests at once may stop Redis for longer.
  redis.options.commandTimeout = 5_000;
  const admin = new Redis(server.url).on('error', () => {});
  await connected(redis, 10_000);
  return {
    url: server.url,
    server,
    redis,
    store: redisStore(redis),
    /** Deletes all keys. */
    empty: () => admin.flushall(),
    keys: async () => (await admin.keys('*')).sort(),
    async stop() {
      redis.disconnect();
      admin.disconnect();
      await server.stop();
    },
  };
}
