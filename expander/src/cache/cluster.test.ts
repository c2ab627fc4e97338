import { fileURLToPath } from 'node:url';
import { createLog } from '@longhand/shared/log.ts';
import { cacheClient } from '@longhand/shared/redis.ts';
import { startRedisCluster } from '@longhand/shared/testing/redis-cluster.ts';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';

test('a Cluster as the cache: while a primary fails and a slot moves every answer is right, and then a hit again', async () => {
  const cluster = await startRedisCluster(fileURLToPath(new URL('../../redis.conf', import.meta.url)), 1);
  const redis = cacheClient({ REDIS_URL: cluster.url }, createLog('expander', 'silent'));
  const shortener = await startShortener();
  onTestFinished(async () => {
    redis.disconnect();
    await shortener.close();
    await cluster.stop();
  });
  await expect.poll(() => redis.status).toBe('ready');
  // The hash tag leads every second link into the slot that moves.
  const links = Array.from({ length: 40 }, (_, i) => `?link=${i % 2 === 0 ? '{tasks}' : ''}${i}`);
  /** Asks for all links as a new process would, and says how many were hits. */
  const hits = async () => {
    const { trace } = testExpander({ redis }).expand;
    const found = await Promise.all(links.map((link) => trace(`${shortener.url}/chain/1${link}`)));
    expect(found.map(({ longUrl }) => longUrl)).toEqual(
      links.map((link) => `${shortener.url}/chain/0${link}`),
    );
    return found.filter(({ cached }) => cached).length;
  };
  await expect.poll(hits).toBe(links.length);

  const killed = await cluster.owner();
  await killed.kill();
  expect(await hits()).toBeLessThan(links.length);
  await expect.poll(hits).toBe(links.length);
  expect(await cluster.owner()).not.toBe(killed);

  await cluster.move(hits);
  await expect.poll(hits).toBe(links.length);
});
