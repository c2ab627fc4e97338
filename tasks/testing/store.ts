import { createLog } from '@longhand/shared/log.ts';
import { type StoreClient, storeClient } from '@longhand/shared/redis.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { type startRedis, startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';
import { redisStore } from '../src/redis/store.ts';

export const configuration = `${import.meta.dirname}/../redis.conf`;

export const silent = createLog('tasks', 'silent');

/** A store in a Redis of its own, configured as in production. */
export async function startStore(start: typeof startRedis = startRedisProcess) {
  const server = await start(configuration);
  return opened([server], server.url, server);
}

/** A store in a Redis Cluster of three nodes of its own. */
export async function startClusterStore() {
  const nodes = await Promise.all([1, 2, 3].map(startClusterNode));
  const [first] = nodes as [ClusterNode, ...ClusterNode[]];
  for (const [i, { redis, port, busPort }] of nodes.entries()) {
    await redis.call(
      'CLUSTER',
      'ADDSLOTSRANGE',
      Math.ceil((i * 16_384) / 3),
      Math.ceil(((i + 1) * 16_384) / 3) - 1,
    );
    await first.redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  }
  for (const { redis } of nodes)
    await until(async () => (await redis.cluster('INFO')).includes('cluster_state:ok'));
  const slot = await first.redis.cluster('KEYSLOT', '{tasks}');
  const owner = nodes[Math.floor((slot * 3) / 16_384)] as ClusterNode;
  for (const { redis } of nodes) redis.disconnect();
  return opened(
    nodes.map(({ server }) => server),
    first.server.url.replace('redis:', 'redis+cluster:').replace(/\/0$/, ''),
    owner.server,
  );
}

interface ClusterNode {
  server: TestRedis;
  redis: Redis;
  port: number;
  busPort: number;
}

async function startClusterNode(): Promise<ClusterNode> {
  const busPort = await freePort();
  const options = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    `${busPort}`,
    '--cluster-node-timeout',
    '2000',
  ];
  const server = await startRedisProcess(configuration, ...options);
  return { server, redis: new Redis(server.url), port: Number(new URL(server.url).port), busPort };
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
