import { storeClient } from '@longhand/shared/redis.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { startRedisProcess } from '@longhand/shared/testing/redis.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { describe, expect, test } from 'vitest';
import { type Service, startService } from '../../testing/service.ts';
import { configuration, silent } from '../../testing/store.ts';
import { look, storm, type Writes } from '../../testing/storm.ts';
import { redisStore } from './store.ts';

/** Crashes of Redis, and of the application, which takes longer to start. */
const crashes = rounds({ short: 3, long: 100 });
const ofApplication = rounds({ short: 1, long: 20 });

/** The number of saved writes before each crash. */
function moments(storm: number): () => number {
  const random = randomNumbers(storm);
  return () => 1 + Math.floor(random() * 60);
}

describe('The store has every saved task and change, and nothing else,', () => {
  test.concurrent(`after Redis crashed ${crashes} times in a storm of writes`, {
    timeout: 10_000 * crashes,
  }, async () => {
    const moment = moments(1);
    const server = await startRedisProcess(configuration);
    const redis = storeClient({ REDIS_URL: server.url }, silent);
    let back = Promise.resolve();
    const writing = storm(redisStore(redis), () => back);
    for (let crash = 0; crash < crashes; crash++) {
      await writing.acknowledges(moment());
      await server.kill();
      back = server.start();
      await back;
    }
    await writing.end();
    redis.disconnect();
    const { found, faults } = await look(server.url);
    expect(writing.compare(found)).toEqual([]);
    expect(faults).toEqual([]);
    await server.stop();
  });

  test.concurrent(`after the application crashed ${ofApplication} times in a storm of writes`, {
    timeout: 60_000 + 10_000 * ofApplication,
  }, async () => {
    const server = await startRedisProcess(configuration);
    const moment = moments(2);
    const start = () => startService({ REDIS_URL: server.url });
    let service = await start();
    let back: Promise<unknown> = Promise.resolve();
    const writing = storm(
      overHttp(() => service),
      () => back,
    );
    for (let crash = 1; crash <= ofApplication; crash++) {
      // Start the next process early, so that the storm continues at once.
      const next = crash < ofApplication ? start() : service;
      await writing.acknowledges(moment());
      const crashed = service.end('SIGKILL');
      back = Promise.resolve(next).then((started) => {
        service = started;
      });
      await Promise.all([crashed, back]);
    }
    await writing.end();
    const { found, faults } = await look(server.url);
    expect(writing.compare(found)).toEqual([]);
    expect(faults).toEqual([]);
    await server.stop();
  });
});

/** The JSON interface of the current `service()`. */
function overHttp(service: () => Service): Writes {
  const send = async <Answer>(method: string, path: string, body: object = {}): Promise<Answer> => {
    const response = await fetch(`${service().url}tasks${path}`, {
      method,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'If-Match': '*' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${response.status}`);
    return (await response.json()) as Answer;
  };
  const removals = new Map<string, string>();
  return {
    create: (written) => send('POST', '', written),
    update: (id, change) => send('PUT', `/${id}`, change),
    async destroy(id, name) {
      removals.set(name, (await send<{ removal: string }>('DELETE', `/${id}`)).removal);
    },
    restore: (name) => send('POST', '/restore', { removal: removals.get(name) }),
  };
}
