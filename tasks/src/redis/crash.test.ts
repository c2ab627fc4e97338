import { storeClient } from '@longhand/shared/redis.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { describe, expect, test } from 'vitest';
import { type Service, startService } from '../../testing/service.ts';
import { configuration, silent } from '../../testing/store.ts';
import { inspect, storm, type Writes } from '../../testing/storm.ts';
import type { Task } from '../task/task.ts';
import { redisStore } from './store.ts';

/** Numbers of crashes. The application takes longer to restart than Redis. */
const redisCrashes = rounds({ short: 3, long: 100 });
const applicationCrashes = rounds({ short: 1, long: 20 });

/** Returns a function that picks a random number of writes before the next crash. */
function randomCounts(stream: number): () => number {
  const random = randomNumbers(stream);
  return () => 1 + Math.floor(random() * 60);
}

describe('The store contains exactly the acknowledged changes', () => {
  test.concurrent(`after ${redisCrashes} crashes of Redis during writes`, {
    timeout: 10_000 * redisCrashes,
  }, async () => {
    const nextCount = randomCounts(1);
    const server = await startRedisProcess(configuration);
    const redis = storeClient({ REDIS_URL: server.url }, silent);
    let back = Promise.resolve();
    const writing = storm(redisStore(redis), () => back);
    for (let crash = 0; crash < redisCrashes; crash++) {
      await writing.acknowledges(nextCount());
      await server.kill();
      back = server.start();
      await back;
    }
    await writing.end();
    redis.disconnect();
    const { found, faults } = await inspect(server.url);
    expect(writing.compare(found)).toEqual([]);
    expect(faults).toEqual([]);
    await server.stop();
  });

  test.concurrent(`after ${applicationCrashes} crashes of the application during writes`, {
    timeout: 60_000 + 10_000 * applicationCrashes,
  }, async () => {
    const server = await startRedisProcess(configuration);
    const nextCount = randomCounts(2);
    const start = () => startService({ REDIS_URL: server.url });
    let service = await start();
    let back: Promise<unknown> = Promise.resolve();
    const writing = storm(
      overHttp(() => service),
      () => back,
    );
    for (let crash = 1; crash <= applicationCrashes; crash++) {
      // The next process starts early, so that the writes continue immediately.
      const next = crash < applicationCrashes ? start() : service;
      await writing.acknowledges(nextCount());
      const crashed = service.end('SIGKILL');
      back = Promise.resolve(next).then((started) => {
        service = started;
      });
      await Promise.all([crashed, back]);
    }
    await writing.end();
    const { found, faults } = await inspect(server.url);
    expect(writing.compare(found)).toEqual([]);
    expect(faults).toEqual([]);
    await server.stop();
  });
});

/** Writes over HTTP to the current `service()`. */
function overHttp(service: () => Service): Writes {
  const send = async <Result>(method: string, path: string, body: object = {}): Promise<Result> => {
    const response = await fetch(`${service().url}tasks${path}`, {
      method,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'If-Match': '*' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${response.status}`);
    return (await response.json()) as Result;
  };
  const removals = new Map<string, string>();
  return {
    create: async (written) => ({ task: await send<Task>('POST', '', written), insert: undefined }),
    update: (id, change) => send('PUT', `/${id}`, change),
    async destroy(id, name) {
      removals.set(name, (await send<{ removal: string }>('DELETE', `/${id}`)).removal);
    },
    restore: (name) => send('POST', '/restore', { removal: removals.get(name) }),
  };
}
