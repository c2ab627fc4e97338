import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { startRedisAt, type TestRedis } from './redis.ts';

/** Milliseconds after which the other nodes take one for down. */
const nodeTimeout = 1_000;

const slots = 16_384;
const primaries = 3;

/** The one that moves: that of all tasks (CLUSTER KEYSLOT {tasks}). */
const slot = 9_114;

/** Keys that leave their node in one step. */
const batch = 10;

/** A Redis Cluster of processes. */
export interface RedisCluster {
  /** For `REDIS_URL`. */
  readonly url: string;
  readonly servers: TestRedis[];
  /** The node that holds the slot of the tasks, as the first node sees it, which is another one in the beginning. */
  owner(): Promise<TestRedis>;
  /**
   * Moves the slot of the tasks to the first node, key by key, as `redis-cli --cluster reshard` does. The keys that scripts
   * name leave first: these then find all of them on the new node, but not all of the tasks.
   *
   * @param between is awaited after each batch of keys.
   */
  move(between: () => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts three primaries that share the slots evenly, and so many replicas of each. They find in their files what gossip
 * would tell them, so that nobody waits for that.
 */
export async function startRedisCluster(configuration: string, replicas = 0): Promise<RedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-cluster-'));
  const nodes = await Promise.all(
    Array.from({ length: primaries * (1 + replicas) }, async (_, place) => ({
      id: id(place),
      port: await freePort(),
      busPort: await freePort(),
      role:
        place < primaries
          ? `master - 0 0 ${place + 1} connected ${share(place)}`
          : `slave ${id(place % primaries)} 0 0 ${(place % primaries) + 1} connected`,
    })),
  );
  const servers = await Promise.all(
    nodes.map(async (own) => {
      const file = join(folder, `${own.port}.conf`);
      const lines = nodes.map(
        (node) =>
          `${node.id} 127.0.0.1:${node.port}@${node.busPort} ${node === own ? 'myself,' : ''}${node.role}`,
      );
      await writeFile(file, `${lines.join('\n')}\nvars currentEpoch ${nodes.length} lastVoteEpoch 0\n`);
      const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', file];
      const bus = ['--cluster-port', `${own.busPort}`, '--cluster-node-timeout', `${nodeTimeout}`];
      return startRedisAt(own.port, configuration, ...cluster, ...bus, '--repl-diskless-sync-delay', '0');
    }),
  );
  const clients = servers.map((server) => new Redis(server.url, { lazyConnect: true }).on('error', () => {}));
  const [first] = clients as [Redis, ...Redis[]];
  for (const client of clients) {
    await until(async () => (await client.cluster('INFO')).includes('cluster_state:ok'));
  }
  const ownerOf = async () => {
    const ranges = (await first.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
    const [, , [, port]] = ranges.find(([from, to]) => from <= slot && slot <= to) ?? [0, 0, ['', 0]];
    return nodes.findIndex((node) => node.port === port);
  };
  const replicated = /master_link_status:up/;
  for (const client of clients.slice(primaries)) {
    await until(async () => replicated.test(await client.info('replication')));
  }
  return {
    url: `redis+cluster://127.0.0.1:${nodes[0]?.port}`,
    servers,
    owner: async () => servers[await ownerOf()] as TestRedis,
    async move(between) {
      const [from, to] = [await ownerOf(), 0];
      const source = clients[from] as Redis;
      await first.cluster('SETSLOT', slot, 'IMPORTING', nodes[from]?.id as string);
      await source.cluster('SETSLOT', slot, 'MIGRATING', nodes[to]?.id as string);
      for (;;) {
        const left = (await source.cluster('GETKEYSINSLOT', slot, 100_000)) as string[];
        if (left.length === 0) break;
        const isTask = (key: string) => Number(key.includes(':task:'));
        const keys = left.sort((a, b) => isTask(a) - isTask(b)).slice(0, batch);
        await source.migrate('127.0.0.1', nodes[to]?.port as number, '', 0, 5_000, 'KEYS', ...keys);
        await between();
      }
      for (const client of [first, source])
        await client.cluster('SETSLOT', slot, 'NODE', nodes[to]?.id as string);
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
      await rm(folder, { recursive: true });
    },
  };
}

/** Forty hexadecimal digits. */
const id = (place: number) => `${place + 1}`.repeat(40);

/** The slots of one primary. */
function share(place: number): string {
  const start = (of: number) => Math.ceil((of * slots) / primaries);
  return `${start(place)}-${start(place + 1) - 1}`;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}
