import { Writable } from 'node:stream';
import { storeClient } from '@longhand/shared/redis.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { configuration, silent } from '../../testing/store.ts';
import { watchSettings } from './settings.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Names and values, which Redis answers one after the other. */
const pairs = (found: string[]) =>
  Array.from({ length: found.length / 2 }, (_, i) => found.slice(2 * i, 2 * i + 2));

/** The settings that are warned of where Redis runs with `options`, told by a check that has ended. */
async function warnings(...options: string[]): Promise<string[]> {
  const server = await startRedisProcess(configuration, ...options);
  const redis = storeClient({ REDIS_URL: server.url }, silent);
  ends.push(
    () => redis.disconnect(),
    () => server.stop(),
  );
  await expect.poll(() => redis.status).toBe('ready');
  const settings: string[] = [];
  const log = pino(
    new Writable({
      write(line, _encoding, done) {
        settings.push(JSON.parse(line).setting);
        done();
      },
    }),
  );
  await watchSettings(redis, log);
  return settings;
}

test('a Redis started with redis.conf writes each change to its file at once and evicts nothing', async () => {
  const server = await startRedisProcess(configuration);
  const redis = new Redis(server.url);
  ends.push(
    () => redis.disconnect(),
    () => server.stop(),
  );
  const settings = await redis.config('GET', 'appendonly', 'appendfsync', 'maxmemory-policy');
  expect(Object.fromEntries(pairs(settings as string[]))).toEqual({
    appendonly: 'yes',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
  });
});

test('the configuration of the store gives no warning', async () => {
  expect(await warnings()).toEqual([]);
});

test.each([
  ['appendonly', 'no'],
  ['appendfsync', 'everysec'],
  ['maxmemory-policy', 'allkeys-lru'],
])('%s %s gets a warning: acknowledged tasks may be lost', async (setting, value) => {
  expect(await warnings(`--${setting}`, value)).toEqual([setting]);
});
