import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cacheClient } from '@longhand/shared/redis.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { logged } from '@longhand/shared/testing/logged.ts';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../expander/testing/expander.ts';
import type { Behaviour } from './relay.ts';

/** Starts a relay; the function that it returns ends it. */
async function startRelay(port: number, to: { port: number }, behaviour: Behaviour) {
  const options = JSON.stringify({ port, to, behaviour });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'relay.ts'), options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return async () => {
    child.kill('SIGKILL');
    await exited;
  };
}

describe('A cache', () => {
  let server: TestRedis;
  let port: number;
  let shortener: Shortener;
  beforeAll(async () => {
    [server, port, shortener] = await Promise.all([
      startRedisProcess(join(import.meta.dirname, '..', '..', 'expander', 'redis.conf')),
      freePort(),
      startShortener(),
    ]);
  });
  afterAll(async () => {
    await server?.stop();
    await shortener?.close();
  });
  const relay = (behaviour: Behaviour) =>
    startRelay(port, { port: Number(new URL(server.url).port) }, behaviour);

  test.each<[string, Behaviour]>([
    ['answers late', { delay: 100 }],
    ['answers in pieces', { slice: 3 }],
    ['answers with garbage', { answer: 'garbage' }],
    ['resets every connection', { answer: 'reset' }],
  ])(
    'that %s: no answer fails, few lines are logged, and it is a cache again afterwards',
    async (how, behaviour) => {
      const { lines, log } = logged();
      const end = await relay(behaviour);
      onTestFinished(end);
      const redis = cacheClient({ REDIS_URL: `redis://127.0.0.1:${port}/0` }, log);
      onTestFinished(() => redis.disconnect());
      let attempts = 0;
      redis.on('reconnecting', () => {
        attempts += 1;
      });
      const { expand } = testExpander({ redis, log });
      const link = (i: number) => `${shortener.url}/chain/1?how=${encodeURIComponent(how)}&i=${i}`;
      for (let i = 0; i < 20; i += 1)
        expect(await expand.trace(link(i))).toMatchObject({ redirectCount: 1, error: null, cached: false });
      for (let i = 0; i < 20; i += 1)
        expect(await expand.trace(link(i))).toMatchObject({ error: null, cached: true });
      if (behaviour.answer) await expect.poll(() => attempts).toBeGreaterThan(4);
      await end();
      const whole = await relay({});
      onTestFinished(whole);
      await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 20_000 }).toBe('PONG');
      const before = await redis.dbsize();
      const entries = async () => {
        await expand.trace(link(Math.random()));
        return redis.dbsize();
      };
      await expect.poll(entries).toBeGreaterThan(before);
      const changes = lines.filter(({ msg }) => /redis is (away|back)|the cache in Redis/.test(`${msg}`));
      expect(changes.length).toBeLessThanOrEqual(4);
    },
  );
});
