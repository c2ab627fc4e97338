import { setTimeout as sleep } from 'node:timers/promises';
import { type StoreClient, storeClient } from '@longhand/shared/redis.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { faultsOf } from '../../testing/faults.ts';
import { allTasks, configuration, silent, useStore } from '../../testing/store.ts';
import { storm } from '../../testing/storm.ts';
import { keys } from './keys.ts';
import { redisStore } from './store.ts';

const kept = useStore();

/** Some steps take a minute on a busy machine. A Sentinel pauses for 30 s if its timer is 2 s late. */
const patient = { timeout: 180_000 };

async function started(file: string, ...options: string[]) {
  const server = await startRedisProcess(file, ...options);
  onTestFinished(() => server.stop());
  return { ...server, port: new URL(server.url).port };
}

/** Starts a primary, two replicas and one Sentinel. On a busy machine, several Sentinels may need minutes to elect a leader. */
async function startCluster() {
  // Sentinel rewrites each server's configuration file.
  const file = () =>
    textFile(`include ${configuration}\nrepl-diskless-sync-delay 0\nmin-replicas-to-write 1`);
  const primary = await started(file());
  for (let i = 0; i < 2; i += 1) await started(file(), '--replicaof', `127.0.0.1 ${primary.port}`);
  const monitored = `monitor tasks 127.0.0.1 ${primary.port} 1`;
  const settings = [monitored, 'down-after-milliseconds tasks 3000', 'failover-timeout tasks 3000'];
  const lines = settings.map((line) => `sentinel ${line}\n`);
  const sentinel = await started(textFile(lines.join('')), '--sentinel');
  const admin = new Redis(sentinel.url);
  const client = storeClient({ REDIS_URL: `redis+sentinel://127.0.0.1:${sentinel.port}/tasks` }, silent);
  onTestFinished(() => {
    admin.disconnect();
    client.disconnect();
  });
  const replicas = () => admin.call('SENTINEL', 'REPLICAS', 'tasks').then(String);
  await expect.poll(replicas, patient).toMatch(/(master-link-status,ok.*){2}/);
  return { primary, client };
}

/** The run ID of the server that the client uses; empty if the server does not respond. */
async function runId(client: StoreClient): Promise<string> {
  const info = await client.eval("return redis.call('INFO', 'server')", 1, keys.version).catch(() => '');
  return /run_id:(\w+)/.exec(`${info}`)?.[1] ?? '';
}

/** Number of writes before the fault, and again after the fault. */
const writes = rounds({ short: 50, long: 1_000 });

test.each((['pause', 'kill', 'pause', 'kill'] as const).slice(0, rounds({ short: 1, long: 4 })))(
  'no confirmed write is lost when Sentinel replaces a failed primary (%s)',
  async (fault) => {
    const { primary, client } = await startCluster();
    const store = redisStore(client, { replicas: 1 });
    await expect.poll(() => runId(client), patient).not.toBe('');
    const first = await runId(client);
    const writing = storm(store, () => sleep(100));
    await writing.acknowledges(writes);
    await primary[fault]();
    await expect.poll(() => runId(client), patient).not.toMatch(new RegExp(`^(${first})?$`));
    await writing.acknowledges(writes);
    await writing.end();
    expect(writing.compare(await vi.waitFor(() => allTasks(store), patient))).toEqual([]);
    expect(await vi.waitFor(() => faultsOf(client), patient)).toEqual([]);
  },
  600_000,
);

test('an unconfirmed write does not delay reads, and a retry adds nothing', async () => {
  const { redis } = kept;
  const replica = await started(configuration, '--replicaof', `127.0.0.1 ${new URL(kept.url).port}`);
  const store = redisStore(redis, { replicas: 1 });
  const careful = redisStore(redis, { replicas: 2 });
  const add = (to = store) => to.create({ title: 'milk' }, new Date(), 'nonce');
  await expect.poll(() => redis.info('replication'), patient).toContain('state=online');
  await expect.poll(() => add().then(({ task }) => task._id, String), patient).toBe('1');
  // Only one of the two required replicas exists.
  await expect(add(careful)).rejects.toThrow('may have been saved');
  await replica.pause();

  const failure = () => add().catch(({ message }) => message);
  await expect.poll(failure, patient).toContain('may have been saved');
  let trying = true;
  const attempts = (async () => {
    while (trying) await failure();
  })();
  // Redis replies to this command while WAIT blocks the connection for writes.
  const blocked = async () => / flags=b .* cmd=wait /.test(`${await redis.client('LIST').catch(String)}`);
  await expect.poll(blocked, patient).toBe(true);
  trying = false;
  await attempts;

  await replica.resume();
  await expect.poll(() => add().then(({ task }) => task._id, String), patient).toBe('1');
  const { tasks } = await vi.waitFor(() => store.list({ filter: 'all' }), patient);
  expect(tasks).toHaveLength(1);
}, 600_000);
