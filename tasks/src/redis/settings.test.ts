import type { Log } from '@longhand/shared/log.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { configuration } from '../../testing/store.ts';
import { watchStore } from './settings.ts';

test('warns on connection and at intervals if Redis uses over 80 % of maxmemory', async () => {
  const { url, stop } = await startRedisProcess(configuration);
  const admin = new Redis(url);
  const used = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
  const fill = (share: number) => admin.config('SET', 'maxmemory', Math.round(used / share));
  const warn = vi.fn<(details: object, message: string) => void>();
  const watched = (milliseconds: number) => {
    const redis = new Redis(url);
    onTestFinished(() => redis.disconnect());
    watchStore(redis, { warn } as unknown as Log, milliseconds);
    return redis;
  };
  onTestFinished(() => admin.disconnect());
  onTestFinished(stop);
  const full = expect.stringMatching(/^the store is over 80 % full/);

  await fill(0.9);
  watched(2 ** 30);
  await expect.poll(() => warn.mock.calls).toEqual([[expect.anything(), full]]);
  warn.mockClear();
  await fill(0.4);
  const info = vi.spyOn(watched(20), 'info');
  await expect.poll(() => info.mock.calls.length).toBeGreaterThan(3);
  expect(warn).not.toHaveBeenCalled();
  await fill(0.9);
  await expect.poll(() => warn.mock.calls[0]).toEqual([expect.anything(), full]);
});
