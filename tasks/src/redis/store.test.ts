import type { Timed } from '@longhand/shared/durations.ts';
import { hasValkey, startRedis, startValkeyProcess } from '@longhand/shared/testing/redis.ts';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { allTasks, useStore } from '../../testing/store.ts';
import { type Page, pageSize } from '../task/task.ts';
import { csrfKey } from './csrf-key.ts';
import { redisStore } from './store.ts';

const stores: [name: string, start: typeof startRedis][] = [['one Redis', startRedis]];
if (hasValkey) stores.push(['one Valkey', startValkeyProcess]);

const without = hasValkey ? '' : ' (skipped: there is no valkey-server on this machine)';
test.skipIf(!hasValkey)(`The store in one Valkey${without}`, () => expect(stores).toHaveLength(2));

describe.each(stores)('The store in %s:', (_, start) => {
  const kept = useStore(start);
  const now = new Date('2026-01-02T03:04:05.678Z');
  const later = new Date('2026-01-02T03:04:06.789Z');

  /** Fills Redis's memory until the test ends, or until the returned function is called. */
  async function fill() {
    await kept.redis.script('FLUSH');
    await kept.redis.config('SET', 'maxmemory', '1');
    const end = () => kept.redis.config('SET', 'maxmemory', '0');
    onTestFinished(async () => void (await end()));
    return end;
  }

  /** Creates tasks 1 to `count`. */
  const create = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => kept.store.create({ title: `task ${i + 1}` }, now)));
  const ids = async (query: Parameters<typeof kept.store.list>[0]) =>
    (await kept.store.list(query)).tasks.map(({ _id }) => _id);

  describe('List order', () => {
    test('is open first, then _id descending as a number (11, 10, 9), whatever the clocks say', async () => {
      await create(10);
      await kept.store.create(
        { title: 'from a replica an hour behind' },
        new Date(now.getTime() - 3_600_000),
      );
      for (const id of ['3', '10', '11']) await kept.store.update(id, { finished: 1 }, now);
      expect(await ids({ filter: 'all' })).toEqual(['9', '8', '7', '6', '5', '4', '2', '1', '11', '10', '3']);
    });

    test('a reopened task returns to its place', async () => {
      await create(3);
      await kept.store.update('2', { finished: 1 }, now);
      await kept.store.update('2', { finished: 0 }, now);
      expect(await ids({ filter: 'all' })).toEqual(['3', '2', '1']);
    });

    test('holds across pages without overlap or gap', async () => {
      await create(2 * pageSize + 50);
      for (let id = 1; id <= 2 * pageSize; id += 2) await kept.store.update(`${id}`, { finished: 1 }, now);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await kept.store.list({ filter: 'all', after });
        expect(page.tasks.length).toBeLessThanOrEqual(pageSize);
        seen.push(...page.tasks.map(({ _id }) => _id));
        after = page.next;
      } while (after);
      const open = Array.from({ length: 2 * pageSize + 50 }, (_, i) => i + 1).filter(
        (id) => id > 2 * pageSize || id % 2 === 0,
      );
      const finished = Array.from({ length: pageSize }, (_, i) => 2 * i + 1);
      expect(seen.map(Number)).toEqual([...open.reverse(), ...finished.reverse()]);
    });

    test('each page has the cursor of the one before and the number of earlier tasks', async () => {
      await create(4 * pageSize);
      for (let id = 1; id <= 3 * pageSize; id++) await kept.store.update(`${id}`, { finished: 1 }, now);
      for (const filter of ['all', 'finished'] as const) {
        const first = await kept.store.list({ filter });
        const second = await kept.store.list({ filter, after: first.next });
        const third = await kept.store.list({ filter, after: second.next });
        expect(first).toMatchObject({ before: 0 });
        expect(second).toMatchObject({ before: pageSize });
        expect(second).not.toHaveProperty('previous');
        expect(third).toMatchObject({ before: 2 * pageSize, previous: first.next });
      }
    });

    test('a full last page has no next one', async () => {
      await create(pageSize);
      expect(await kept.store.list({ filter: 'all' })).not.toHaveProperty('next');
    });

    test('filters select open or finished tasks; the counts include all', async () => {
      await create(3);
      await kept.store.update('2', { finished: 1 }, now);
      expect(await ids({ filter: 'open' })).toEqual(['3', '1']);
      expect(await ids({ filter: 'finished' })).toEqual(['2']);
      expect(await kept.store.list({ filter: 'open' })).toMatchObject({ open: 2, finished: 1 });
    });

    test('a cursor is valid for its own filter and for all; others are refused', async () => {
      await create(3);
      await kept.store.update('2', { finished: 1 }, now);
      const [open, finished] = [`${-3 - 2 ** 52}`, '-3'];
      expect(await ids({ filter: 'all', after: open })).toEqual(['1', '2']);
      expect(await ids({ filter: 'open', after: open })).toEqual(['1']);
      expect(await ids({ filter: 'all', after: finished })).toEqual(['2']);
      expect(await ids({ filter: 'finished', after: finished })).toEqual(['2']);
      for (const [filter, after] of [
        ['finished', open],
        ['open', finished],
        ['all', '+inf'],
      ] as const) {
        await expect(ids({ filter, after })).rejects.toMatchObject({ code: 'bad_cursor' });
      }
    });
  });

  describe('Task', () => {
    test('on creation is open, has created_at and no updated_at', async () => {
      expect(await kept.store.create({ title: 'milk' }, now)).toEqual({
        _id: '1',
        title: 'milk',
        finished: 0,
        created_at: '2026-01-02T03:04:05.678Z',
        revision: expect.any(Number),
      });
    });

    test('finishing a finished task and reopening an open one change nothing', async () => {
      await create(2);
      await kept.store.update('1', { finished: 1 }, now);
      const before = await kept.store.list({ filter: 'all' });
      expect(await kept.store.update('1', { finished: 1 }, later)).toMatchObject({
        updated_at: now.toISOString(),
      });
      expect(await kept.store.update('2', { finished: 0 }, later)).not.toHaveProperty('updated_at');
      expect(await kept.store.list({ filter: 'all' }, before)).toBe(before);
    });

    test('a new title does not change updated_at', async () => {
      await create(1);
      const renamed = await kept.store.update('1', { title: 'bread' }, later);
      expect(renamed.title).toBe('bread');
      expect(renamed).not.toHaveProperty('updated_at');
    });

    test.each(['2', '0', '01', '1.0', ' 1', '+1', '1e0', 'x', '', '٣', '9'.repeat(15), '9'.repeat(40)])(
      'id %j is unknown, and a change of it creates nothing',
      async (id) => {
        await create(1);
        const before = await kept.keys();
        await expect(kept.store.show(id)).rejects.toMatchObject({ code: 'unknown_task' });
        await expect(kept.store.update(id, { finished: 1 }, now)).rejects.toMatchObject({
          code: 'unknown_task',
        });
        expect(await kept.keys()).toEqual(before);
      },
    );
  });

  describe('A removal', () => {
    const insertFinished = async (count: number) => {
      const finished = { title: 'done', finished: 1, created_at: now.toISOString() } as const;
      for (let i = 0; i < count; i += 1_000) await kept.store.insert(Array(1_000).fill(finished));
    };

    test('of 12,000 finished tasks, and its undo, lets other clients in between its steps', async () => {
      await create(2);
      await insertFinished(12_000);
      const before = await kept.store.list({ filter: 'finished' });
      // Commands of one turn travel together, so this reply follows the first step.
      const between = () => kept.store.list({ filter: 'all' });
      const [cleared, whileClearing] = await Promise.all([kept.store.clearFinished('removal'), between()]);
      expect(cleared).toBe(12_000);
      expect(whileClearing).toMatchObject({ open: 2, finished: 8_000 });
      expect(await between()).toMatchObject({ open: 2, finished: 0 });
      expect(await kept.store.removed('removal')).toEqual({
        removal: 'removal',
        count: 12_000,
        title: 'done',
      });
      const [restored, whileRestoring] = await Promise.all([kept.store.restore('removal'), between()]);
      expect(restored).toBe(12_000);
      expect(whileRestoring).toMatchObject({ open: 2, finished: 4_000 });
      const { tasks, open, finished } = await kept.store.list({ filter: 'finished' });
      expect({ tasks, open, finished }).toEqual({ tasks: before.tasks, open: 2, finished: 12_000 });
      expect(await kept.keys()).not.toContain('{tasks}:removal:removal');
    });

    test('two concurrent clears remove each task once, and each undo restores its own', async () => {
      await insertFinished(10_000);
      const cleared = await Promise.all(['one', 'two'].map((removal) => kept.store.clearFinished(removal)));
      expect(Math.min(...cleared)).toBeGreaterThan(0);
      expect([await kept.store.restore('one'), await kept.store.restore('two')]).toEqual(cleared);
      expect(await kept.store.list({ filter: 'all' })).toMatchObject({ open: 0, finished: 10_000 });
    });

    test('of finished tasks ends even if more are finished than it clears', async () => {
      await insertFinished(5_000);
      // Each step is preceded by more tasks than it clears.
      const timed: Timed = async (name, run) => {
        if (name === 'clear') await insertFinished(5_000);
        return run();
      };
      const count = await redisStore(kept.redis, { timed }).clearFinished('removal');
      // Steps of 4,000 for the 10,000 tasks at the first one.
      expect(count).toBe(12_000);
    });

    test('hides the task from show, change and export, and its retried form adds none', async () => {
      await kept.store.create({ title: 'milk' }, now, 'nonce');
      await kept.store.destroy('1', 'removal');
      const unknown = { code: 'unknown_task' };
      await expect(kept.store.show('1')).rejects.toMatchObject(unknown);
      await expect(kept.store.update('1', { finished: 1 }, now)).rejects.toMatchObject(unknown);
      await expect(kept.store.destroy('1', 'another')).rejects.toMatchObject(unknown);
      expect((await kept.store.create({ title: 'milk' }, now, 'nonce'))._id).toBe('1');
      expect(await allTasks(kept.store)).toEqual([]);
    });

    test('is listed while it can be undone, latest first', async () => {
      await create(5);
      for (const id of ['1', '2', '3']) await kept.store.update(id, { finished: 1 }, now);
      for (const id of ['4', '5', '1']) await kept.store.destroy(id, `removal ${id}`);
      await kept.redis.zincrby('{tasks}:removals', -60, 'removal 4');
      await kept.redis.zincrby('{tasks}:removals', 60, 'removal 1');
      await kept.store.restore('removal 5');
      // Otherwise it would take the place of an older one in a long list.
      expect(await kept.redis.zrange('{tasks}:removals', '0', '-1')).toEqual(['removal 4', 'removal 1']);
      const listed = await kept.store.removals();
      expect(listed).toMatchObject([
        { removal: 'removal 1', count: 1, title: expect.any(String) },
        { removal: 'removal 4', count: 1 },
      ]);
      const age = Date.now() - Date.parse(listed[1]?.removed_at ?? '');
      expect(age).toBeGreaterThan(50_000);
      expect(age).toBeLessThan(120_000);
      // A day passes for both.
      await kept.redis.del('{tasks}:removal:removal 1');
      await kept.redis.zincrby('{tasks}:removals', -24 * 60 * 60, 'removal 4');
      await kept.store.clearFinished('cleared');
      expect(await kept.store.removals()).toMatchObject([{ removal: 'cleared', count: 2 }]);
      expect(await kept.redis.zrange('{tasks}:removals', '0', '-1')).not.toContain('removal 4');
    });

    test('deletes at most 1,000 expired tasks at once', async () => {
      await create(1);
      await insertFinished(2_000);
      await kept.store.clearFinished('old');
      await kept.redis.zunionstore('{tasks}:removed', 1, '{tasks}:removed', 'WEIGHTS', 0);
      await kept.store.destroy('1', 'new');
      expect(await kept.redis.zcard('{tasks}:removed')).toBe(1_001);
    });

    test('can be undone once, for a day; then the next removal deletes its tasks', async () => {
      await create(3);
      await kept.store.destroy('1', 'first');
      expect(await kept.redis.ttl('{tasks}:removal:first')).toBeGreaterThan(24 * 60 * 60 - 60);
      await kept.store.destroy('2', 'second');
      // A day and two minutes pass for the first one.
      await kept.redis.del('{tasks}:removal:first');
      await kept.redis.zincrby('{tasks}:removed', -(24 * 60 + 2) * 60, '1');
      // A day passes for the second one, whose removal ends within the same second.
      await kept.redis.zincrby('{tasks}:removed', -24 * 60 * 60, '2');
      await expect(kept.store.restore('first')).rejects.toMatchObject({ code: 'unknown_removal' });
      await kept.store.destroy('3', 'third');
      expect(await kept.redis.exists('{tasks}:task:1')).toBe(0);
      expect(await kept.store.restore('second')).toBe(1);
      await expect(kept.store.restore('second')).rejects.toMatchObject({ code: 'unknown_removal' });
      expect(await ids({ filter: 'all' })).toEqual(['2']);
      expect(await kept.redis.zrange('{tasks}:removed', '0', '-1')).toEqual(['3']);
    });
  });

  describe('Creating twice', () => {
    test('with one nonce adds one task per title', async () => {
      const [first, second] = await Promise.all([
        kept.store.create({ title: 'milk' }, now, 'nonce'),
        kept.store.create({ title: 'milk' }, later, 'nonce'),
      ]);
      expect(second).toEqual(first);
      await kept.store.create({ title: 'bread' }, now, 'nonce');
      expect(await ids({ filter: 'all' })).toEqual(['2', '1']);
    });

    test('is detected for a day; then the nonce expires', async () => {
      await kept.store.create({ title: 'milk' }, now, 'nonce');
      const [key = ''] = (await kept.keys()).filter((name) => name.startsWith('{tasks}:nonce:'));
      const day = 24 * 60 * 60;
      expect(await kept.redis.ttl(key)).toBeGreaterThan(day - 60);
      expect(await kept.redis.ttl(key)).toBeLessThanOrEqual(day);
    });
  });

  describe('A page that the client already has', () => {
    const all = { filter: 'all' } as const;
    const found = (known?: Page) => kept.store.list(all, known);

    test('is the same page until a change, and each change has a new version', async () => {
      const pages = [await found()];
      const look = async () => {
        pages.push(await found(pages.at(-1)));
        expect(await found(pages.at(-1))).toBe(pages.at(-1));
      };
      await look();
      await create(1);
      await look();
      await kept.store.update('1', { title: 'bread' }, now);
      await look();
      await kept.store.update('1', { finished: 1 }, now);
      await look();
      await kept.store.destroy('1', 'removal');
      await look();
      await kept.store.restore('removal');
      await look();
      await kept.store.clearFinished('removal');
      await look();
      await kept.store.insert([{ title: 'more', finished: 0, created_at: now.toISOString() }]);
      await look();
      expect(new Set(pages.map(({ version }) => version)).size).toBe(8);
    });

    test('has a version that never repeats, even after a restore', async () => {
      await create(1);
      const older = (await found()).version;
      await kept.store.update('1', { finished: 1 }, now);
      const { version } = await found();
      await kept.redis.set('{tasks}:version', older);
      await kept.store.update('1', { finished: 0 }, now);
      expect(BigInt((await found()).version)).toBeGreaterThan(BigInt(version));
    });

    test('has a version that never repeats, even if the clock was set back', async () => {
      const ahead = 2_000_000_000_000_000;
      await kept.redis.set('{tasks}:version', `${ahead}`);
      await create(1);
      expect((await found()).version).toBe(`${ahead + 1}`);
    });

    test('is outdated after a restore', async () => {
      await create(1);
      await kept.redis.copy('{tasks}:version', '{tasks}:older');
      await kept.store.update('1', { title: 'undone' }, now);
      const before = await found();
      await kept.redis.rename('{tasks}:older', '{tasks}:version');
      await kept.redis.hset('{tasks}:task:1', 'title', 'restored');
      expect((await found(before)).tasks[0]?.title).toBe('restored');
    });
  });

  test('a page is one round trip, with the same commands for 200 and 20,000 tasks', async () => {
    /** The commands by which Redis found the first two pages, with the number of calls. */
    const commands = async () => {
      await kept.redis.config('RESETSTAT');
      const first = await kept.store.list({ filter: 'all' });
      await kept.store.list({ filter: 'all', after: first.next });
      const calls = [...(await kept.redis.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g)];
      const ours = calls.map(([, name, count]) => [name, Number(count)] as const);
      return Object.fromEntries(ours.filter(([name]) => !['config', 'info'].includes(name ?? '')));
    };
    const open = (i: number) => ({ title: `task ${i}`, finished: 0, created_at: now.toISOString() }) as const;
    await kept.store.insert(Array.from({ length: 210 }, (_, i) => open(i)));
    await kept.store.list({ filter: 'all' }); // Teaches Redis the script.
    const few = await commands();
    for (let i = 0; i < 40; i++) await kept.store.insert(Array.from({ length: 500 }, (_, j) => open(j)));
    expect(await commands()).toEqual(few);
    expect(few).toMatchObject({ evalsha: 2, zrange: 3, zcard: 2, zcount: 3 });
    expect(Object.keys(few)).not.toEqual(expect.arrayContaining([expect.stringMatching(/keys|scan|sort/)]));
  });

  describe('Store failure', () => {
    test('without memory writes nothing, and says how to free space', async () => {
      await create(2);
      const before = await kept.keys();
      const end = await fill();
      const message = expect.stringContaining('The store is full. Delete tasks or clear the finished ones');
      const refused = { code: 'store_unavailable', message };
      await expect(kept.store.create({ title: 'milk' }, now, 'nonce')).rejects.toMatchObject(refused);
      await expect(kept.store.update('1', { finished: 1 }, now)).rejects.toMatchObject(refused);
      await end();
      expect(await kept.keys()).toEqual(before);
      expect(await kept.store.show('1')).toMatchObject({ finished: 0 });
    });

    test('for lack of a replica says so', async () => {
      await kept.redis.config('SET', 'min-replicas-to-write', '1');
      onTestFinished(async () => void (await kept.redis.config('SET', 'min-replicas-to-write', '0')));
      const message = expect.stringContaining('A copy of the store is missing');
      const refused = { code: 'store_unavailable', message };
      await expect(kept.store.create({ title: 'milk' }, now)).rejects.toMatchObject(refused);
    });

    test('without memory still allows removals and their undo', async () => {
      await create(3);
      await kept.store.update('1', { finished: 1 }, now);
      await kept.store.destroy('3', 'older');
      // A day and two minutes pass.
      await kept.redis.del('{tasks}:removal:older');
      await kept.redis.zincrby('{tasks}:removed', -(24 * 60 + 2) * 60, '3');
      await fill();
      await kept.store.destroy('2', 'open');
      expect(await kept.redis.exists('{tasks}:task:3')).toBe(0);
      expect(await kept.store.clearFinished('finished')).toBe(1);
      expect(await ids({ filter: 'all' })).toEqual([]);
      expect(await kept.store.restore('open')).toBe(1);
      expect(await kept.store.restore('finished')).toBe(1);
      expect(await ids({ filter: 'all' })).toEqual(['2', '1']);
    });
  });

  test('the CSRF key is created once and shared by all replicas', async () => {
    const [first, second] = await Promise.all([csrfKey(kept.redis)(), csrfKey(kept.redis)()]);
    expect(first).toHaveLength(32);
    expect(first).toEqual(second);
  });

  test('all replicas share the CSRF key again within seconds after the store was replaced', async () => {
    const before = csrfKey(kept.redis);
    const old = await before();
    await kept.empty();
    const key = await csrfKey(kept.redis)();
    expect(key).not.toEqual(old);
    await expect.poll(before).toEqual(key);
  });

  test('the CSRF key can be read at `maxmemory`, where Redis refuses every SET', async () => {
    const key = await csrfKey(kept.redis)();
    await fill();
    expect(await csrfKey(kept.redis)()).toEqual(key);
  });

  describe('The schema of the keys', () => {
    const schema = '{tasks}:schema';
    /** Every way to write. */
    const writes = () => [
      kept.store.create({ title: 'bread' }, later, 'nonce'),
      kept.store.insert([{ title: 'tea', finished: 0, created_at: later.toISOString() }]),
      kept.store.update('1', { finished: 0 }, later),
      kept.store.destroy('2', 'removal-2'),
      kept.store.clearFinished('removal-3'),
      kept.store.restore('removal'),
    ];
    beforeEach(async () => {
      await create(3);
      await kept.store.update('1', { finished: 1 }, now);
      await kept.store.destroy('3', 'removal');
    });

    test('is written by the first change; missing means 1', async () => {
      expect(await kept.redis.get(schema)).toBe('1');
      await kept.redis.del(schema);
      await Promise.all(writes());
      expect(await kept.redis.get(schema)).toBe('1');
    });

    test('that is newer stops all writes with the reason, but no reads', async () => {
      await kept.redis.set(schema, '2');
      const state = async () => {
        const keys = (await kept.keys()).filter((key) => key !== schema);
        return Promise.all(keys.map((key) => kept.redis.dumpBuffer(key)));
      };
      const before = await state();
      for (const result of await Promise.allSettled(writes())) {
        const message = expect.stringMatching(/^A newer release has changed .* Start the newer release/);
        expect(result).toMatchObject({ status: 'rejected' });
        const { reason } = result as PromiseRejectedResult;
        expect(reason).toMatchObject({ code: 'store_unavailable', message });
      }
      expect(await state()).toEqual(before);
      expect(await ids({ filter: 'all' })).toEqual(['2', '1']);
      expect(await kept.store.show('2')).toMatchObject({ title: 'task 2' });
      expect(await kept.store.removed('removal')).toMatchObject({ count: 1 });
      expect(await allTasks(kept.store)).toHaveLength(2);
    });
  });

  test('every key has the prefix', async () => {
    await kept.store.create({ title: 'milk' }, now, 'nonce');
    await csrfKey(kept.redis)();
    for (const key of await kept.keys()) expect(key).toMatch(/^\{tasks\}:/);
  });
});
