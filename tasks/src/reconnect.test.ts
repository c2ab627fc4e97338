import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CuttingProxy, startCuttingProxy } from '../testing/cut-connections.ts';
import { type Service, startService } from '../testing/service.ts';
import { useStore } from '../testing/store.ts';

const kept = useStore();
let proxy: CuttingProxy;
let service: Service;
/** Each attempt to reconnect takes a second. */
const patient = { timeout: 20_000, interval: 200 };
beforeAll(async () => {
  proxy = await startCuttingProxy(kept.url);
  service = await startService({ REDIS_URL: proxy.url });
});
afterAll(async () => {
  expect(await service.end('SIGTERM')).toBe(0);
  proxy.stop();
});

/** The commands that a client sends when it reconnects. */
test.each(['connect', 'hello', 'client', 'info', 'config', 'subscribe', 'get', 'eval', 'evalsha'])(
  'the service responds with 503 while connections to Redis break at %s, and then recovers',
  async (step) => {
    const status = async () => (await fetch(service.url)).status;
    await expect.poll(status, patient).toBe(200);

    proxy.cutAt(step === 'connect' ? step : `\r\n${step}\r\n`);
    proxy.cutAll();
    // The client rejects waiting commands at every second attempt.
    await expect
      .poll(async () => [200, 503].includes(await status()) && proxy.cuts() >= 3, patient)
      .toBe(true);
    proxy.cutAt(undefined);

    await expect.poll(status, patient).toBe(200);
    expect(service.log.filter(({ msg }) => msg === 'unhandled rejection')).toEqual([]);
  },
);
