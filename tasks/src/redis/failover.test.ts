import { storeClient } from '@longhand/shared/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { expect, onTestFinished, test } from 'vitest';
import { type Fault, failover } from '../../testing/failover.ts';
import { startSentinelRedis } from '../../testing/sentinel.ts';
import { silent } from '../../testing/store.ts';
import { redisStore } from './store.ts';

const sound = { ghosts: [], orphans: [], misplaced: [], damaged: [], unassigned: [] };

/** How often the primary fails in each way; the way "cut off" needs a network of its own, see docs/operate.md. */
const ways: Fault[] = ['killed', 'hung', 'killed', 'hung'];
const failures = ways.slice(0, rounds({ short: 1, long: 4 }));

test.each(failures)(
  'a primary is %s: the Sentinels choose another one, writes resume, and nothing that a replica confirmed is lost',
  async (fault) => {
    const { acknowledged, lost, pause, faults } = await failover(fault, 1);
    expect(lost).toEqual([]);
    expect(faults).toMatchObject(sound);
    expect(acknowledged).toBeGreaterThan(100);
    expect(pause).toBeLessThan(20_000);
  },
  60_000,
);

test('a write that too few replicas confirm may have been saved; reads do not wait, and a retry saves nothing twice', async () => {
  const redis = await startSentinelRedis();
  const client = storeClient({ REDIS_URL: redis.url }, silent);
  onTestFinished(async () => {
    client.disconnect();
    await redis.stop();
  });
  const store = redisStore(client, { replicas: 2 });
  const add = () => store.create({ title: 'milk' }, new Date(), 'nonce');
  await expect.poll(() => store.show('1').catch(({ code }) => code)).toBe('unknown_task');
  redis.signal('replica1', 'SIGSTOP');

  let waiting = true;
  const unconfirmed = expect(add())
    .rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('may have been saved'),
    })
    .finally(() => {
      waiting = false;
    });
  await expect.poll(async () => (await store.list({ filter: 'all' })).tasks.length).toBe(1);
  expect(waiting).toBe(true);
  await unconfirmed;

  redis.signal('replica1', 'SIGCONT');
  await redis.replicated(2);
  await expect.poll(() => add().then(({ _id }) => _id, String)).toBe('1');
  expect((await store.list({ filter: 'all' })).tasks).toHaveLength(1);
});
