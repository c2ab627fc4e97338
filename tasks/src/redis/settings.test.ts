import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, serviceOfTest, useService } from '../../testing/service.ts';
import { configuration } from '../../testing/store.ts';

const kept = useService();

test('settings by which acknowledged tasks may be lost get a warning each, and those of redis.conf none', async () => {
  const unsafe = { appendonly: 'no', appendfsync: 'everysec', 'maxmemory-policy': 'allkeys-lru' };
  const options = Object.entries(unsafe).flatMap(([name, value]) => [`--${name}`, value]);
  const forgetful = await startRedisProcess(configuration, ...options);
  onTestFinished(() => forgetful.stop());
  const warned = ({ log }: Service) =>
    log.flatMap(({ level, setting }) => (level === 'warn' ? [setting] : []));
  const service = await serviceOfTest({ REDIS_URL: forgetful.url });
  await expect.poll(() => warned(service)).toEqual(Object.keys(unsafe));
  expect(warned(kept.service)).toEqual([]);
});
