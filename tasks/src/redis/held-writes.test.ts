import { once } from 'node:events';
import { cacheClient, storeClient } from '@longhand/shared/redis.ts';
import { startRedis, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { configuration, silent } from '../../testing/store.ts';
import { holdWrites } from './held-writes.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis(configuration);
});
afterAll(() => server?.stop());

test('writes whose connection ends are held back, however soon Redis is back', async () => {
  const redis = storeClient({ REDIS_URL: server.url }, silent);
  const admin = cacheClient({ REDIS_URL: server.url }, silent);
  onTestFinished(() => {
    redis.disconnect();
    admin.disconnect();
  });
  await expect.poll(() => [redis.status, admin.status]).toEqual(['ready', 'ready']);
  // Waits in Redis until there is something in the list.
  const write = holdWrites(redis, 1_000)(() => redis.blpop('list', 0));
  const waiting = async () => /cmd=blpop/.test(`${await admin.client('LIST')}`);

  for (let i = 0; i < 2; i++) {
    const refused = expect(write()).rejects.toThrow();
    await expect.poll(waiting).toBe(true);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await refused;
  }
  await expect(write()).rejects.toThrow('Nothing can be saved just now');

  // Half of the time later a write of another replica ends Redis.
  const held = performance.now();
  await expect.poll(() => performance.now() - held).toBeGreaterThan(500);
  const again = once(redis, 'ready');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
  await again;
  const back = performance.now();
  await admin.rpush('list', 'first', 'second');
  await expect.poll(() => write().catch(() => undefined)).toEqual(['list', 'first']);
  expect(performance.now() - back).toBeGreaterThan(900);
  expect(await write()).toEqual(['list', 'second']);
});
