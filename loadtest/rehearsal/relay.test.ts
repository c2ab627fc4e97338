import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cacheClient, storeClient } from '@longhand/shared/redis.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { logged } from '@longhand/shared/testing/logged.ts';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../expander/testing/expander.ts';
import { redisStore } from '../../tasks/src/redis/store.ts';
import type { Behaviour } from './relay.ts';

const root = join(import.meta.dirname, '..', '..');
const portOf = ({ url }: TestRedis) => Number(new URL(url).port);

/** A Redis with the configuration of `application`, and where a relay before it listens while there is one. */
async function behindRelay(application: string) {
  const [redis, port] = await Promise.all([
    startRedisProcess(join(root, application, 'redis.conf')),
    freePort(),
  ]);
  /** Starts a relay; the function that it returns ends it. */
  const relay = async (behaviour: Behaviour) => {
    const options = { port, to: { port: portOf(redis) }, behaviour };
    const child = spawn(process.execPath, [join(import.meta.dirname, 'relay.ts'), JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    return async () => {
      child.kill('SIGKILL');
      await exited;
    };
  };
  return { redis, relay, url: `redis://127.0.0.1:${port}/0` };
}

describe('A cache', () => {
  let behind: Awaited<ReturnType<typeof behindRelay>>;
  let shortener: Shortener;
  beforeAll(async () => {
    [behind, shortener] = await Promise.all([behindRelay('expander'), startShortener()]);
  });
  afterAll(async () => {
    await behind?.redis.stop();
    await shortener?.close();
  });

  test.each<[string, Behaviour]>([
    ['answers late', { delay: 100 }],
    ['answers in pieces', { slice: 3 }],
    ['answers with garbage', { answer: 'garbage' }],
    ['resets every connection', { answer: 'reset' }],
  ])(
    'that %s: no answer fails, few lines are logged, and it is a cache again afterwards',
    async (how, behaviour) => {
      const { lines, log } = logged();
      const end = await behind.relay(behaviour);
      onTestFinished(end);
      const redis = cacheClient({ REDIS_URL: behind.url }, log);
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
      const whole = await behind.relay({});
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

test('A store that answers 100 ms late answers', async () => {
  const { redis: server, relay, url } = await behindRelay('tasks');
  const end = await relay({ delay: 100 });
  const redis = storeClient({ REDIS_URL: url }, logged().log);
  onTestFinished(async () => {
    redis.disconnect();
    await end();
    await server.stop();
  });
  const store = redisStore(redis);
  for (let i = 0; i < 5; i += 1) await store.create({ title: `task ${i}` }, new Date());
  expect(await store.list({ filter: 'all' })).toMatchObject({ tasks: { length: 5 } });
});
