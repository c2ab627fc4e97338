import { setTimeout as sleep } from 'node:timers/promises';
import { connected, type StoreClient, storeClient } from '@longhand/shared/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../../testing/faults.ts';
import { startSentinelRedis } from '../../testing/sentinel.ts';
import { allTasks, silent } from '../../testing/store.ts';
import { storm } from '../../testing/storm.ts';
import { keys } from './keys.ts';
import { redisStore } from './store.ts';

/** A Redis with Sentinels, and a client of it, for one test. */
async function startCluster(...options: string[]) {
  const redis = await startSentinelRedis(...options);
  const client = storeClient({ REDIS_URL: redis.url }, silent);
  onTestFinished(async () => {
    client.disconnect();
    await redis.stop();
  });
  await connected(client, 5_000);
  return { redis, client };
}

/** Which server has the tasks, as the client knows it; empty if none answers. */
async function identity(client: StoreClient): Promise<string> {
  const info = await client.eval("return redis.call('INFO', 'server')", 1, keys.version).catch(() => '');
  return /run_id:(\w+)/.exec(`${info}`)?.[1] ?? '';
}

/** How the primary fails: it is killed, or hangs. */
const faults = (['SIGKILL', 'SIGSTOP', 'SIGKILL', 'SIGSTOP'] as const).slice(
  0,
  rounds({ short: 1, long: 4 }),
);
const enough = rounds({ short: 50, long: 1_000 });

/** For what takes seconds, and on a busy machine longer. */
const patient = { timeout: 60_000 };

test.each(faults)(
  'a primary gets %s: the Sentinels choose another one, writes resume, and nothing that a replica confirmed is lost',
  async (fault) => {
    const { redis, client } = await startCluster('min-replicas-to-write 1', 'min-replicas-max-lag 10');
    const store = redisStore(client, { replicas: 1 });
    const first = await identity(client);
    const writing = storm(store, () => sleep(100));
    await writing.acknowledges(enough);
    redis.signal('primary', fault);
    await expect.poll(() => identity(client), patient).not.toMatch(new RegExp(`^(${first})?$`));
    await writing.acknowledges(enough);
    await writing.end();
    expect(writing.compare(await allTasks(store))).toEqual([]);
    expect(await faultsOf(client)).toEqual([]);
  },
  240_000,
);

test('a write that too few replicas confirm may have been saved; reads do not wait, and a retry saves nothing twice', async () => {
  const { redis, client } = await startCluster();
  const store = redisStore(client, { replicas: 2 });
  const add = () => store.create({ title: 'milk' }, new Date(), 'nonce');
  await expect.poll(() => store.show('1').catch(({ code }) => code), patient).toBe('unknown_task');
  redis.signal('replica1', 'SIGSTOP');

  const failure = () => add().catch(({ message }) => message);
  await expect.poll(failure, patient).toContain('may have been saved');
  let trying = true;
  const attempts = (async () => {
    while (trying) await failure();
  })();
  // Redis answers this read while WAIT blocks the connection for writes.
  const blocked = async () => / flags=b .* cmd=wait /.test(`${await client.client('LIST').catch(String)}`);
  await expect.poll(blocked, patient).toBe(true);
  trying = false;
  await attempts;

  redis.signal('replica1', 'SIGCONT');
  await redis.replicated(2);
  await expect.poll(() => add().then(({ _id }) => _id, String), patient).toBe('1');
  expect((await store.list({ filter: 'all' })).tasks).toHaveLength(1);
}, 120_000);
