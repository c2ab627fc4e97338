import { createLog } from '@longhand/shared/log.ts';
import { type StoreClient, storeClient } from '@longhand/shared/redis.ts';
import { type startRedis, startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { startRedisCluster } from '@longhand/shared/testing/redis-cluster.ts';
import { Redis } from 'ioredis';
import { redisStore } from '../src/redis/store.ts';

export const configuration = `${import.meta.dirname}/../redis.conf`;

export const silent = createLog('tasks', 'silent');

/** A store in a Redis of its own, configured as in production. */
export async function startStore(start: typeof startRedis = startRedisProcess) {
  const server = await start(configuration);
  return opened([server], server.url, server);
}

/** A store in a Redis Cluster of its own. */
export async function startClusterStore() {
  const { url, servers, owner } = await startRedisCluster(configuration);
  return opened(servers, url, await owner());
}

async function opened(servers: TestRedis[], url: string, owner: TestRedis) {
  const redis: StoreClient = storeClient({ REDIS_URL: url }, silent);
  const nodes = servers.map((server) => new Redis(server.url).on('error', () => {}));
  await until(async () => redis.status === 'ready');
  return {
    url,
    /** The server that holds the tasks. */
    server: owner,
    redis,
    store: redisStore(redis),
    /** Back to the state of the first start. */
    empty: () => Promise.all(nodes.map((node) => node.flushall())),
    keys: async () => (await Promise.all(nodes.map((node) => node.keys('*')))).flat().sort(),
    async stop() {
      redis.disconnect();
      for (const node of nodes) node.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
