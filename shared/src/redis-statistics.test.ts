import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { logged } from '../testing/logged.ts';
import { startRedisProcess } from '../testing/redis.ts';
import { cacheClient } from './redis.ts';
import { redisStatistics } from './redis-statistics.ts';

test("a service exports its Redis's statistics, and the last ones while Redis is down", async () => {
  const server = await startRedisProcess('expander/redis.conf');
  const client = cacheClient({ REDIS_URL: server.url }, logged().log);
  onTestFinished(async () => {
    client.disconnect();
    await server.stop();
  });
  await expect.poll(() => client.status).toBe('ready');
  let replies = 0;
  const metrics = new Registry();
  redisStatistics(metrics, () => {
    replies += 1;
    return client.info();
  });
  const read = async () =>
    Object.fromEntries(
      Array.from((await metrics.metrics()).matchAll(/^(redis_\w+) (\d+)$/gm), ([, name, value]) => [
        name,
        Number(value),
      ]),
    );
  const found = await read();
  expect(found).toEqual({
    redis_memory_used_bytes: expect.any(Number),
    redis_memory_max_bytes: 64 * 1024 ** 2,
    redis_connected_clients: 1,
    redis_commands_processed_total: expect.any(Number),
    redis_evicted_keys_total: 0,
  });
  expect(found.redis_memory_used_bytes).toBeGreaterThan(100_000);
  expect(replies).toBe(1);
  expect((await read()).redis_commands_processed_total).toBeGreaterThan(
    found.redis_commands_processed_total ?? 0,
  );
  await server.kill();
  expect((await read()).redis_memory_max_bytes).toBe(64 * 1024 ** 2);
});
