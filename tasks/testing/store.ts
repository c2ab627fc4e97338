import { createLog } from '@longhand/shared/log.ts';
import { storeClient } from '@longhand/shared/redis.ts';
import { startRedis } from '../../shared/testing/redis.ts';
import { redisStore } from '../src/redis-store.ts';

export const configuration = `${import.meta.dirname}/../redis.conf`;

/** A store in a Redis of its own, configured as in production. */
export async function startStore() {
  const server = await startRedis(configuration);
  const redis = storeClient(server.url, createLog('tasks', 'silent'));
  return {
    server,
    redis,
    store: redisStore(redis),
    /** Back to the state of the first start. */
    empty: () => redis.flushall(),
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}
