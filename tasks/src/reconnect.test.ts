import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { afterAll, beforeAll, test } from 'vitest';
import { startCuttingProxy } from '../testing/cut-connections.ts';
import { startService } from '../testing/service.ts';
import { configuration } from '../testing/store.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedisProcess(configuration);
});
afterAll(() => redis.stop());

/** Every step in which a service gets back to its store, by the command that it sends. */
test.concurrent.for([
  'connect',
  'hello',
  'client',
  'info',
  'config',
  'subscribe',
  'get',
  'set',
  'eval',
  'evalsha',
])(
  'a store that disappears at the step %s of every attempt costs 503s, not the process',
  async (step, { expect, onTestFinished }) => {
    const proxy = await startCuttingProxy(redis.url);
    const service = await startService({ REDIS_URL: proxy.url });
    onTestFinished(async () => {
      await service.end('SIGKILL');
      proxy.stop();
    });
    const status = async () => (await fetch(service.url)).status;
    expect(await status()).toBe(200);

    proxy.cutAt(step);
    proxy.cutAll();
    // Three times: the client counts its attempts, and gives up commands at every second one.
    await expect
      .poll(async () => [200, 503].includes(await status()) && proxy.cuts() >= 3, { timeout: 20_000 })
      .toBe(true);
    proxy.cutAt(undefined);

    await expect.poll(status, { timeout: 10_000 }).toBe(200);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(service.log.filter(({ msg }) => msg === 'unhandled rejection')).toEqual([]);
  },
);
