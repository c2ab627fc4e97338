import { execFile } from 'node:child_process';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { startRedis } from '@longhand/shared/testing/redis.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { allTasks, sound, useStore } from '../../testing/store.ts';
import { repair } from './repair.ts';

const now = new Date();

describe('Repair of a store', () => {
  const kept = useStore(startRedis);
  beforeEach(async () => {
    for (const title of ['one', 'two', 'three', 'four']) await kept.store.create({ title: title }, now);
    await kept.store.update('2', { finished: 1 }, now);
  });

  const list = async () => (await kept.store.list({ filter: 'all' })).tasks.map(({ _id }) => _id);

  /** Parts index and tasks in every way there is. */
  async function damage() {
    await kept.redis.zadd('{tasks}:index', -7, '7');
    await kept.redis.zrem('{tasks}:index', '4');
    await kept.redis.zadd('{tasks}:index', -2 - 2 ** 52, '2');
    await kept.redis.hset('{tasks}:task:9', 'finished', '1', 'updated_at', now.toISOString());
    await kept.redis.set('{tasks}:last-id', '3');
  }

  test('a sound store has no faults, removed tasks and forms that were sent among it', async () => {
    await kept.store.destroy('3', 'removal');
    await kept.store.create({ title: 'five' }, now, 'nonce');
    expect(await repair(kept.redis, false)).toEqual({ tasks: 4, ...sound });
    expect(await repair(kept.redis, true)).toEqual({ tasks: 4, ...sound });
    expect(await list()).toEqual(['5', '4', '1', '2']);
    expect(await kept.store.restore('removal')).toBe(1);
  });

  test('faults are found and left alone, and put right when asked', async () => {
    await damage();
    const faults = {
      tasks: 4,
      ghosts: ['7'],
      orphans: ['4'],
      misplaced: ['2'],
      damaged: ['9'],
      unassigned: ['4', '9'],
    };
    expect(await repair(kept.redis, false)).toEqual(faults);
    expect(await repair(kept.redis, true)).toMatchObject({ ghosts: ['7'], orphans: ['4'] });
    expect(await repair(kept.redis, false)).toEqual({ tasks: 4, ...sound });
    expect(await list()).toEqual(['4', '3', '1', '2']);
    expect((await kept.store.create({ title: 'next' }, now))._id).not.toBe('4');
  });

  test('stray keys are found as damaged, whatever they hold, and put aside when asked', async () => {
    const [long, task] = ['9'.repeat(20), { title: 'a', finished: '0', created_at: 'b', revision: '1' }];
    await kept.redis.set('{tasks}:task:foo', 'bar');
    await kept.redis.hset('{tasks}:task:bar', 'a', 'b');
    await kept.redis.zadd('{tasks}:index', -1, 'bar');
    await kept.redis.hset('{tasks}:task:07', task);
    await kept.redis.hset(`{tasks}:task:${long}`, task);
    await kept.redis.rpush('{tasks}:task:8', 'a', 'b');
    await kept.redis.zadd('{tasks}:removed', 1, '8');
    const { damaged, ...others } = await repair(kept.redis, false);
    expect(damaged.sort()).toEqual(['07', '8', long, 'bar', 'foo']);
    expect({ ...others, damaged: [] }).toEqual({ ...sound, tasks: 4 });
    await repair(kept.redis, true);
    expect(await repair(kept.redis, false)).toEqual({ tasks: 4, ...sound });
    expect(await kept.redis.get('{tasks}:damaged:foo')).toBe('bar');
    expect(await list()).toEqual(['4', '3', '1', '2']);
    expect((await kept.store.create({ title: 'next' }, now))._id).toBe('5');
  });

  test('a damaged index does not keep the list from being shown, nor makes a ghost a task', async () => {
    await damage();
    expect(await list()).toEqual(['3', '2', '1']);
    const unknown = { code: 'unknown_task' };
    await expect(kept.store.show('7')).rejects.toMatchObject(unknown);
    await expect(kept.store.update('7', { finished: 1 }, now, '"1"')).rejects.toMatchObject(unknown);
    await expect(kept.store.destroy('7', 'removal', '"1"')).rejects.toMatchObject(unknown);
    expect((await allTasks(kept.store)).map(({ _id }) => _id)).toEqual(['1', '2', '3']);
  });
});

describe('npm run repair', () => {
  const kept = useStore();

  test('says what is wrong and how to go on, and repairs with --fix', { timeout: 60_000 }, async () => {
    await kept.store.create({ title: 'one' }, now);
    await kept.redis.del('{tasks}:index');
    const run = (...args: string[]) =>
      new Promise<{ code: number; out: string }>((resolve) => {
        const env = { ...childEnvironment, REDIS_URL: kept.url };
        const program = `${import.meta.dirname}/../repair-main.ts`;
        const child = execFile(process.execPath, [program, ...args], { env }, (_error, out, err) =>
          resolve({ code: child.exitCode ?? -1, out: out + err }),
        );
      });
    expect(await run()).toMatchObject({ code: 1, out: expect.stringMatching(/orphans: 1 \(1\).*--fix/s) });
    expect(await run('--fix')).toMatchObject({ code: 0, out: expect.stringContaining('repaired') });
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('no faults') });
    await kept.redis.set('{tasks}:removed', 'no sorted set');
    await kept.redis.zrem('{tasks}:index', '1');
    const failed = { code: 2, out: expect.stringMatching(/cannot be reached.*WRONGTYPE/s) };
    expect(await run()).toMatchObject(failed);
  });
});
