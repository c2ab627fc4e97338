import { setTimeout as sleep } from 'node:timers/promises';
import { connected, storeClient } from '@longhand/shared/redis.ts';
import { type RedisCluster, startRedisCluster } from '@longhand/shared/testing/redis-cluster.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { expect, onTestFinished, test } from 'vitest';
import { look } from '../../testing/look.ts';
import { overHttp } from '../../testing/over-http.ts';
import { startService } from '../../testing/service.ts';
import { configuration, silent } from '../../testing/store.ts';
import { storm } from '../../testing/storm.ts';
import { repair } from './repair.ts';
import { redisStore } from './store.ts';

const nothingWrong = {
  lost: [],
  faults: { ghosts: [], orphans: [], misplaced: [], damaged: [], unassigned: [] },
  unexpected: [],
};

/** Writes and reads through the service, while something happens to its Cluster. */
async function loaded(cluster: RedisCluster) {
  const service = await startService({ REDIS_URL: cluster.url, TASKS_WAIT_REPLICAS: '1' });
  const { end, ...writing } = storm(
    overHttp(() => service),
    () => sleep(100),
  );
  let going = true;
  onTestFinished(async () => {
    going = false;
    end();
    await service.end('SIGKILL');
    await cluster.stop();
  });
  const statuses = new Set<number>();
  const reads = (async () => {
    for (; going; await sleep(50))
      statuses.add(
        await fetch(service.url).then(
          ({ status }) => status,
          () => 0,
        ),
      );
  })();
  return {
    ...writing,
    async end() {
      going = false;
      await Promise.all([reads, end()]);
      const { found, faults } = await look(cluster.url);
      const unexpected = [...statuses].filter((status) => status !== 200 && status !== 503);
      return { lost: writing.compare(found), faults, unexpected };
    },
  };
}

test('a primary of a Cluster is killed: writes resume, nothing that its replica confirmed is lost, no orphan', async () => {
  const cluster = await startRedisCluster(configuration, 1);
  const { acknowledges, end } = await loaded(cluster);
  for (let i = 0; i < rounds({ short: 1, long: 10 }); i += 1) {
    await acknowledges(100);
    const killed = await cluster.owner();
    await killed.kill();
    await expect.poll(() => cluster.owner()).not.toBe(killed);
    // Until it is back, as a replica, the new primary has nobody that could confirm a write.
    await killed.start();
    await acknowledges(100);
  }
  expect(await end()).toMatchObject(nothingWrong);
}, 300_000);

test('the tasks move to another node of a Cluster, key by key: nothing is lost, no ghost', async () => {
  const cluster = await startRedisCluster(configuration, 1);
  const { acknowledges, end } = await loaded(cluster);
  await acknowledges(rounds({ short: 150, long: 20_000 }));
  const before = await cluster.owner();
  await cluster.move(() => sleep(5));
  expect(await cluster.owner()).not.toBe(before);
  await acknowledges(100);
  expect(await end()).toMatchObject(nothingWrong);
}, 300_000);

test('nobody sees half of the tasks while they move, and nobody repairs what only seems to be missing', async () => {
  const cluster = await startRedisCluster(configuration);
  const client = storeClient({ REDIS_URL: cluster.url }, silent);
  onTestFinished(async () => {
    client.disconnect();
    await cluster.stop();
  });
  await connected(client, 5_000);
  const store = redisStore(client);
  const tasks = Array.from({ length: 12 }, (_, i) => `task ${i}`);
  for (const title of tasks) await store.create(title, new Date());
  await store.destroy('1', 'removal');
  await cluster.move(async () => {
    const refused = expect.objectContaining({ code: 'store_unavailable' });
    const attempts = [store.list({ filter: 'all' }), Array.fromAsync(store.export()), repair(client, true)];
    for (const { status, reason } of (await Promise.allSettled(attempts)) as PromiseRejectedResult[]) {
      expect([status, reason]).toEqual(['rejected', refused]);
    }
  });
  await expect.poll(() => repair(client, false).catch(String)).toMatchObject(nothingWrong.faults);
  expect((await store.list({ filter: 'all' })).tasks).toHaveLength(tasks.length - 1);
});
