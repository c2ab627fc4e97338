import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startCuttingProxy } from '../testing/cut-connections.ts';
import { faultsOf } from '../testing/faults.ts';
import { type Service, serviceOfTest } from '../testing/service.ts';
import { allTasks, useStore } from '../testing/store.ts';
import { keys } from './redis/keys.ts';

/** Tasks that one step of a clear removes. */
const cleared = 4_000;

const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };

describe('The service is restarted', { timeout: 60_000 }, () => {
  const kept = useStore();
  let service: Service;

  const send = (method: string, path: string, body?: object) =>
    fetch(`${service.url}tasks${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });

  /** All titles, in a store that is sound. */
  async function titlesLeft(): Promise<string[]> {
    expect(await faultsOf(kept.redis)).toEqual([]);
    return (await allTasks(kept.store)).map(({ title }) => title);
  }

  describe('during an import', () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}`);
    const file = lines.map((title) => JSON.stringify({ title })).join('\n');

    /** Begins to import; resolves once the service waits for the body. */
    async function beginImport() {
      const sending = http.request(`${service.url}tasks/import`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/x-ndjson', Expect: '100-continue' },
      });
      sending.flushHeaders();
      await once(sending, 'continue');
      return sending.on('error', () => {});
    }

    test('by a crash: all lines are there, or none', async () => {
      const proxy = await startCuttingProxy(kept.url);
      onTestFinished(() => proxy.stop());
      service = await serviceOfTest({ REDIS_URL: proxy.url });
      await send('POST', '', { title: 'acknowledged before' });
      (await beginImport()).end(file);
      await expect.poll(() => proxy.sent('line 999'), { timeout: 30_000, interval: 1 }).toBe(true);
      await service.end('SIGKILL');
      const [first, ...imported] = await titlesLeft();
      expect(first).toBe('acknowledged before');
      expect([[], lines]).toContainEqual(imported);
    });

    test('by a stop: it goes on to its end and is acknowledged', async () => {
      service = await serviceOfTest({ REDIS_URL: kept.url });
      const sending = await beginImport();
      const answered = once(sending, 'response') as Promise<[http.IncomingMessage]>;
      const exit = service.end('SIGTERM');
      sending.end(file);
      const [response] = await answered;
      expect(await json(response)).toMatchObject({ imported: lines.length, refused: 0 });
      expect(await exit).toBe(0);
      expect(await titlesLeft()).toEqual(lines);
    });
  });

  describe('during a clear', () => {
    const open = ['open 1', 'open 2'];
    const finished = Array.from({ length: 2 * cleared }, (_, i) => `finished ${i}`);
    const now = new Date();
    beforeEach(async () => {
      const task = { created_at: now.toISOString() };
      await kept.store.insert(open.map((title) => ({ ...task, title, finished: 0 })));
      const done = { ...task, finished: 1, updated_at: task.created_at } as const;
      // In steps that take less than the second in which Redis has to answer, also on a busy machine.
      for (let i = 0; i < finished.length; i += 1_000)
        await kept.store.insert(finished.slice(i, i + 1_000).map((title) => ({ ...done, title })));
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
      const left = await titlesLeft();
      expect(left).toHaveLength(open.length + cleared);
      expect(left).toEqual(expect.arrayContaining(open));

      const removals = await kept.redis.keys(`${keys.removal}*`);
      expect(removals).toHaveLength(1);
      expect(await kept.store.restore(removals[0]?.slice(keys.removal.length) ?? '')).toBe(cleared);
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
      expect(await titlesLeft()).toEqual(open);
    });
  });
});
