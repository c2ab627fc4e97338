import { once } from 'node:events';
import { type StoreClient, storeClient } from '@longhand/shared/redis.ts';
import { startRedisProcess, type TestRedis } from '@longhand/shared/testing/redis.ts';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startCuttingProxy } from '../testing/cut-connections.ts';
import { type Service, startService } from '../testing/service.ts';
import { configuration, silent } from '../testing/store.ts';
import { keys } from './redis/keys.ts';
import { repair } from './redis/repair.ts';
import { redisStore } from './redis/store.ts';

/** Tasks that reach the store together: by an import, and by a clear. */
const [inserted, cleared] = [500, 4_000];

const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };

describe('The service is restarted', { timeout: 60_000 }, () => {
  let server: TestRedis;
  let redis: StoreClient;
  let service: Service;
  beforeEach(async () => {
    server = await startRedisProcess(configuration);
    redis = storeClient({ REDIS_URL: server.url }, silent);
  });
  afterEach(async () => {
    await service.end('SIGKILL');
    redis.disconnect();
    await server.stop();
  });

  const send = (method: string, path: string, body?: object) =>
    fetch(`${service.url}tasks${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });

  /** All titles, once a new service answers and `repair` finds nothing. */
  async function titlesAfterRestart(): Promise<string[]> {
    service = await startService({ REDIS_URL: server.url });
    expect((await send('GET', '')).status).toBe(200);
    const faults = await repair(redis, false);
    expect(faults).toMatchObject({ ghosts: [], orphans: [], misplaced: [], damaged: [], unassigned: [] });
    const titles: string[] = [];
    for await (const batch of redisStore(redis).export()) titles.push(...batch.map(({ title }) => title));
    return titles;
  }

  describe('during an import', () => {
    const lines = Array.from({ length: 3 * inserted }, (_, i) => `line ${i}`);

    /** Uploads `lines`; resolves when two thirds of them are in the store and the rest has not been sent. */
    async function beginImport() {
      service = await startService({ REDIS_URL: server.url });
      await send('POST', '', { title: 'acknowledged before' });
      const upload = new TransformStream<Uint8Array, Uint8Array>();
      const writer = upload.writable.getWriter();
      const write = (some: string[]) => writer.write(Buffer.from(some.map((line) => `${line}\n`).join('')));
      const answer = fetch(`${service.url}tasks/import`, {
        method: 'POST',
        headers: {
          'Content-Type': 'text/plain',
          Accept: 'application/json',
          Origin: service.url.slice(0, -1),
        },
        body: upload.readable,
        duplex: 'half',
      } as RequestInit);
      answer.catch(() => {});
      write(lines.slice(0, 2.5 * inserted)).catch(() => {});
      await expect.poll(() => redis.zcard(keys.index), { timeout: 30_000 }).toBe(1 + 2 * inserted);
      const end = async () => {
        await write(lines.slice(2.5 * inserted));
        await writer.close();
      };
      return { answer, end };
    }

    test('by a crash: whole batches of lines are there, from the first on', async () => {
      const { answer } = await beginImport();
      await service.end('SIGKILL');
      await expect(answer).rejects.toThrow();
      expect(await titlesAfterRestart()).toEqual(['acknowledged before', ...lines.slice(0, 2 * inserted)]);
    });

    test('by a stop: it goes on to its end and is acknowledged', async () => {
      const { answer, end } = await beginImport();
      const exit = service.end('SIGTERM');
      await end();
      expect(await (await answer).json()).toMatchObject({ imported: lines.length, refused: 0 });
      expect(await exit).toBe(0);
      expect(await titlesAfterRestart()).toEqual(['acknowledged before', ...lines]);
    });
  });

  describe('during a clear', () => {
    const open = ['open 1', 'open 2'];
    const finished = Array.from({ length: 2 * cleared }, (_, i) => `finished ${i}`);
    const now = new Date();
    beforeEach(async () => {
      const task = { created_at: now.toISOString() };
      const { insert } = redisStore(redis);
      await insert(open.map((title) => ({ ...task, title, finished: 0 })));
      for (let i = 0; i < finished.length; i += inserted) {
        const some = finished.slice(i, i + inserted);
        await insert(some.map((title) => ({ ...task, title, finished: 1, updated_at: task.created_at })));
      }
    });

    test('by a crash: what was cleared is kept as one removal, and the rest is there', async () => {
      const proxy = await startCuttingProxy(server.url);
      service = await startService({ REDIS_URL: proxy.url });
      // The second step never reaches the store. Each says how many tasks it takes.
      proxy.cutAt(`"count":${cleared}`, 1);
      send('DELETE', '/finished', {}).catch(() => {});
      await expect.poll(() => proxy.cuts(), { timeout: 30_000, interval: 1 }).toBeGreaterThan(0);
      await service.end('SIGKILL');
      proxy.stop();
      const left = await titlesAfterRestart();
      expect(left).toHaveLength(open.length + cleared);
      expect(left).toEqual(expect.arrayContaining(open));

      const removals = await redis.keys(`${keys.removal}*`);
      expect(removals).toHaveLength(1);
      const removal = removals[0]?.slice(keys.removal.length);
      expect(await (await send('POST', '/restore', { removal })).json()).toEqual({ count: cleared });
      expect(await redis.zcard(keys.index)).toBe(open.length + finished.length);
    });

    test('by a stop: it goes on to its end and is acknowledged', async () => {
      service = await startService({ REDIS_URL: server.url });
      const watcher = new Redis(server.url);
      await watcher.subscribe(keys.changes);
      const stepped = once(watcher, 'message');
      const answer = send('DELETE', '/finished', {});
      await stepped;
      watcher.disconnect();
      const exit = service.end('SIGTERM');
      expect(await (await answer).json()).toMatchObject({ count: finished.length });
      expect(await exit).toBe(0);
      expect(await titlesAfterRestart()).toEqual(open);
    });
  });
});
