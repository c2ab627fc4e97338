import { once } from 'node:events';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startCuttingProxy } from '../testing/cut-connections.ts';
import { type Service, serviceOfTest } from '../testing/service.ts';
import { allTasks, sound, useStore } from '../testing/store.ts';
import { keys } from './redis/keys.ts';
import { repair } from './redis/repair.ts';

/** Tasks that reach the store together: by an import, and by a clear. */
const [inserted, cleared] = [500, 4_000];

const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };

describe('The service is restarted', { timeout: 60_000 }, () => {
  const kept = useStore();
  let service: Service;

  const send = (method: string, path: string, body?: object) =>
    fetch(`${service.url}tasks${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });

  /** All titles, once a new service answers and `repair` finds nothing. */
  async function titlesAfterRestart(): Promise<string[]> {
    service = await serviceOfTest({ REDIS_URL: kept.url });
    expect((await send('GET', '')).status).toBe(200);
    expect(await repair(kept.redis, false)).toMatchObject(sound);
    return (await allTasks(kept.store)).map(({ title }) => title);
  }

  describe('during an import', () => {
    const lines = Array.from({ length: 3 * inserted }, (_, i) => `line ${i}`);

    /** Uploads `lines`; resolves when two thirds of them are in the store and the rest has not been sent. */
    async function beginImport() {
      service = await serviceOfTest({ REDIS_URL: kept.url });
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
      await expect.poll(() => kept.redis.zcard(keys.index), { timeout: 30_000 }).toBe(1 + 2 * inserted);
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
      await kept.store.insert(open.map((title) => ({ ...task, title, finished: 0 })));
      for (let i = 0; i < finished.length; i += inserted) {
        const some = finished.slice(i, i + inserted);
        await kept.store.insert(
          some.map((title) => ({ ...task, title, finished: 1, updated_at: task.created_at })),
        );
      }
    });

    test('by a crash: what was cleared is kept as one removal, and the rest is there', async () => {
      const proxy = await startCuttingProxy(kept.url);
      onTestFinished(() => proxy.stop());
      service = await serviceOfTest({ REDIS_URL: proxy.url });
      // The second step never reaches the store. Each says how many tasks it takes.
      proxy.cutAt(`"count":${cleared}`, 1);
      send('DELETE', '/finished', {}).catch(() => {});
      await expect.poll(() => proxy.cuts(), { timeout: 30_000, interval: 1 }).toBeGreaterThan(0);
      await service.end('SIGKILL');
      const left = await titlesAfterRestart();
      expect(left).toHaveLength(open.length + cleared);
      expect(left).toEqual(expect.arrayContaining(open));

      const removals = await kept.redis.keys(`${keys.removal}*`);
      expect(removals).toHaveLength(1);
      const removal = removals[0]?.slice(keys.removal.length);
      expect(await (await send('POST', '/restore', { removal })).json()).toEqual({ count: cleared });
      expect(await kept.redis.zcard(keys.index)).toBe(open.length + finished.length);
    });

    test('by a stop: it goes on to its end and is acknowledged', async () => {
      service = await serviceOfTest({ REDIS_URL: kept.url });
      const watcher = new Redis(kept.url);
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
