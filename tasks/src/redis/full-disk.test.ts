import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeClient } from '@longhand/shared/redis.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../../testing/faults.ts';
import { mountSmallDisk, noSmallDisk } from '../../testing/small-disk.ts';
import { allTasks, configuration, silent } from '../../testing/store.ts';
import { redisStore } from './store.ts';

/** Milliseconds between attempts to write; 12 s in production. */
const interval = 500;

/** Runs Redis with its data in `folder`, and restarts it whenever it exits. */
async function startRestartingRedis(folder: string) {
  const port = await freePort();
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
  let exits = 0;
  let stopped = false;
  let server: ChildProcess;
  const keepRunning = async () => {
    while (!stopped) {
      server = spawn('redis-server', [configuration, ...options], { stdio: 'ignore' });
      await once(server, 'exit');
      exits += 1;
      await sleep(100);
    }
  };
  const running = keepRunning();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    exits: () => exits,
    async stop() {
      stopped = true;
      server.kill('SIGKILL');
      await running;
    },
  };
}

describeUnless(noSmallDisk() ?? false)('A full disk', () => {
  test('does not lose saved tasks, and writes resume once there is space', async () => {
    const disk = mountSmallDisk(4);
    const server = await startRestartingRedis(disk.folder);
    const redis = storeClient({ REDIS_URL: server.url }, silent);
    onTestFinished(async () => {
      redis.disconnect();
      await server.stop();
      disk.unmount();
    });
    const store = redisStore(redis, { interval });
    const acknowledged: string[] = [];
    let refused = 0;
    const write = async (title: string) => {
      await store.create({ title: title }, new Date()).then(
        () => acknowledged.push(title),
        ({ code }) => {
          expect(code).toBe('store_unavailable');
          refused += 1;
        },
      );
    };
    await expect.poll(async () => write('first').then(() => acknowledged.length)).toBeGreaterThan(0);

    // Two clients write continuously.
    disk.fill(8 * 1024);
    let going = true;
    const visitor = async (name: string) => {
      for (let i = 0; going; i++) {
        await write(`${name} ${i} ${'x'.repeat(400)}`);
        await sleep(10);
      }
    };
    const visitors = [visitor('one'), visitor('two')];
    await expect.poll(server.exits).toBe(1);
    await sleep(3.5 * interval);

    // Redis exits twice before writes are suspended, and then once per interval.
    expect(server.exits()).toBeLessThanOrEqual(6);
    expect(refused).toBeGreaterThan(10);
    await expect.poll(() => store.show('1').catch(() => undefined)).toMatchObject({ title: 'first' });
    const before = acknowledged.length;
    disk.clear();
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before);
    going = false;
    await Promise.all(visitors);

    expect((await allTasks(store)).map(({ title }) => title)).toEqual(expect.arrayContaining(acknowledged));
    expect(await faultsOf(redis)).toEqual([]);
  });
});
