import { createLog } from '@longhand/shared/log.ts';
import { storeClient } from '@longhand/shared/redis.ts';
import { type startRedis, startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';
import { redisStore } from '../src/redis/store.ts';

export const configuration = `${import.meta.dirname}/../redis.conf`;

export const silent = createLog('tasks', 'silent');

/** A store in a Redis of its own, configured as in production. */
export async function startStore(start: typeof startRedis = startRedisProcess) {
  const server = await start(configuration);
  const redis = storeClient({ REDIS_URL: server.url }, silent);
  const admin = new Redis(server.url).on('error', () => {});
  await until(async () => redis.status === 'ready');
  return {
    url: server.url,
    server,
    redis,
    store: redisStore(redis),
    /** Back to the state of the first start. */
    empty: () => admin.flushall(),
    keys: async () => (await admin.keys('*')).sort(),
    async stop() {
      redis.disconnect();
      admin.disconnect();
      await server.stop();
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
