import { storeClient } from '@longhand/shared/redis.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { describe, expect, test } from 'vitest';
import { look } from '../../testing/look.ts';
import { overHttp } from '../../testing/over-http.ts';
import { startService } from '../../testing/service.ts';
import { configuration, silent } from '../../testing/store.ts';
import { storm } from '../../testing/storm.ts';
import { redisStore } from './store.ts';

/** Crashes of each of four Redis, and of the application, which takes longer to start. */
const crashes = rounds({ short: 5, long: 50 });
const ofApplication = rounds({ short: 3, long: 20 });

/** Random moments to crash at: after so many more acknowledged writes. */
function moments(storm: number): () => number {
  const random = randomNumbers(storm);
  return () => 1 + Math.floor(random() * 60);
}

const sound = { ghosts: [], orphans: [], misplaced: [], damaged: [], unassigned: [] };

describe('Every acknowledged task and change is found, and no ghost and no orphan,', () => {
  test.concurrent.each([1, 2, 3, 4])(
    `after Redis crashed ${crashes} times in a storm of writes (%i)`,
    { timeout: 10_000 * crashes },
    async (number) => {
      const { lost, faults } = await crashRedis(crashes, moments(number));
      expect(lost).toEqual([]);
      expect(faults).toMatchObject(sound);
    },
  );

  test.concurrent('and a Redis that keeps no file is caught forgetting', async () => {
    const { lost } = await crashRedis(2, moments(5), '--appendonly', 'no');
    expect(lost).not.toEqual([]);
  });

  test.concurrent(`after the application crashed ${ofApplication} times in a storm of writes`, {
    timeout: 60_000 + 10_000 * ofApplication,
  }, async () => {
    const server = await startRedisProcess(configuration);
    const moment = moments(6);
    const start = () => startService({ REDIS_URL: server.url });
    let service = await start();
    let back: Promise<unknown> = Promise.resolve();
    const writing = storm(
      overHttp(() => service),
      () => back,
    );
    for (let crash = 0; crash < ofApplication; crash++) {
      // The next one stands by, so that the storm goes on at once.
      const next = start();
      await writing.acknowledges(moment());
      const crashed = service.end('SIGKILL');
      back = next.then((started) => {
        service = started;
      });
      await Promise.all([crashed, back]);
    }
    await writing.end();
    await service.end('SIGKILL');
    const { found, faults } = await look(server.url);
    expect(writing.compare(found)).toEqual([]);
    expect(faults).toMatchObject(sound);
    await server.stop();
  });
});

/** Kills a Redis of its own in a storm of writes, again and again, and says what was lost by that. */
async function crashRedis(times: number, moment: () => number, ...options: string[]) {
  const server = await startRedisProcess(configuration, ...options);
  const redis = storeClient({ REDIS_URL: server.url }, silent);
  let back = Promise.resolve();
  const writing = storm(redisStore(redis), () => back);
  for (let crash = 0; crash < times; crash++) {
    await writing.acknowledges(moment());
    await server.kill();
    back = server.start();
    await back;
  }
  await writing.end();
  redis.disconnect();
  const { found, faults } = await look(server.url);
  await server.stop();
  return { lost: writing.compare(found), faults };
}
