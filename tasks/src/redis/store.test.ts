import type { Timed } from '@longhand/shared/durations.ts';
import { hasValkey, startRedis, startValkeyProcess } from '@longhand/shared/testing/redis.ts';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { allTasks, useStore } from '../../testing/store.ts';
import { type Page, pageSize } from '../task/task.ts';
import { csrfKey } from './csrf-key.ts';
import { keys } from './keys.ts';
import { redisStore } from './store.ts';

const stores = { Redis: startRedis, ...(hasValkey && { Valkey: startValkeyProcess }) };

test('The store in Valkey', (context) => context.skip(!hasValkey, 'needs valkey-server'));

describe.each(Object.entries(stores))('The store in %s:', (_, start) => {
  const kept = useStore(start);
  const now = new Date('2026-01-02T03:04:05.678Z');
  const later = new Date('2026-01-02T03:04:06.789Z');

  /** Sets a Redis option to 1 until the test ends or the returned function is called. */
  async function enable(option: string) {
    await kept.redis.script('FLUSH');
    await kept.redis.config('SET', option, '1');
    const end = () => kept.redis.config('SET', option, '0');
    onTestFinished(async () => void (await end()));
    return end;
  }
  const fill = () => enable('maxmemory');

  /** Creates tasks 1 to `count`. */
  const create = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => kept.store.create({ title: `task ${i + 1}` }, now)));
  const ids = async (query: Parameters<typeof kept.store.list>[0]) =>
    (await kept.store.list(query)).tasks.map(({ _id }) => _id);

  describe('List order', () => {
    test('puts open tasks first and sorts numerically by descending _id, even if clocks differ', async () => {
      await create(10);
      const hourBehind = new Date(now.getTime() - 3_600_000);
      await kept.store.create({ title: 'from a replica an hour behind' }, hourBehind);
      for (const id of ['3', '10', '11', '5']) await kept.store.update(id, { finished: 1 }, now);
      await kept.store.update('5', { finished: 0 }, now);
      expect(await ids({ filter: 'all' })).toEqual(['9', '8', '7', '6', '5', '4', '2', '1', '11', '10', '3']);
    });

    test('paging through the list returns each task once, in order', async () => {
      const numbers = Array.from({ length: 2 * pageSize + 50 }, (_, i) => i + 1);
      const isFinished = (id: number) => id <= 2 * pageSize && id % 2 === 1;
      await create(numbers.length);
      for (const id of numbers.filter(isFinished)) await kept.store.update(`${id}`, { finished: 1 }, now);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await kept.store.list({ filter: 'all', after });
        expect(page.tasks.length).toBeLessThanOrEqual(pageSize);
        seen.push(...page.tasks.map(({ _id }) => _id));
        after = page.next;
      } while (after);
      numbers.reverse();
      const open = numbers.filter((id) => !isFinished(id));
      expect(seen.map(Number)).toEqual([...open, ...numbers.filter(isFinished)]);
    });

    test('each page has the cursor of the previous page and the number of earlier tasks', async () => {
      await create(pageSize);
      expect(await kept.store.list({ filter: 'all' })).not.toHaveProperty('next');
      await create(3 * pageSize);
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

    test('filters select open or finished tasks and reject cursors of the other filter', async () => {
      await create(3);
      await kept.store.update('2', { finished: 1 }, now);
      expect(await ids({ filter: 'open' })).toEqual(['3', '1']);
      expect(await ids({ filter: 'finished' })).toEqual(['2']);
      expect(await kept.store.list({ filter: 'open' })).toMatchObject({ open: 2, finished: 1 });
      const [open, finished] = [`${-3 - 2 ** 52}`, '-3'];
      expect(await ids({ filter: 'all', after: open })).toEqual(['1', '2']);
      expect(await ids({ filter: 'open', after: open })).toEqual(['1']);
      expect(await ids({ filter: 'all', after: finished })).toEqual(['2']);
      expect(await ids({ filter: 'finished', after: finished })).toEqual(['2']);
      const wrong = { finished: open, open: finished, all: '+inf' };
      for (const filter of ['finished', 'open', 'all'] as const)
        await expect(ids({ filter, after: wrong[filter] })).rejects.toMatchObject({ code: 'bad_cursor' });
    });
  });

  describe('A task', () => {
    test('starts open, with created_at and without updated_at', async () => {
      expect((await kept.store.create({ title: 'milk' }, now)).task).toEqual({
        _id: '1',
        title: 'milk',
        finished: 0,
        created_at: '2026-01-02T03:04:05.678Z',
        revision: expect.any(Number),
      });
    });

    test('has updated_at once it is finished or reopened', async () => {
      await create(2);
      expect(await kept.store.update('2', { title: 'bread' }, later)).not.toHaveProperty('updated_at');
      const updated_at = now.toISOString();
      expect(await kept.store.update('1', { finished: 1 }, now)).toMatchObject({ updated_at });
      const before = await kept.store.list({ filter: 'all' });
      expect(await kept.store.update('1', { finished: 1 }, later)).toMatchObject({ updated_at });
      expect(await kept.store.update('2', { finished: 0 }, later)).not.toHaveProperty('updated_at');
      expect(await kept.store.list({ filter: 'all' }, before)).toBe(before);
    });

    test.each(['2', '3', '0', '01', '1.0', ' 1', '+1', '1e0', 'x', '', '٣', '9'.repeat(15), '9'.repeat(40)])(
      'with the unknown or removed id %j cannot be read or changed',
      async (id) => {
        await create(2);
        await kept.store.destroy('2', 'removal');
        const before = await kept.keys();
        const unknown = { code: 'unknown_task' };
        await expect(kept.store.show(id)).rejects.toMatchObject(unknown);
        await expect(kept.store.update(id, { finished: 1 }, now)).rejects.toMatchObject(unknown);
        await expect(kept.store.destroy(id, 'another')).rejects.toMatchObject(unknown);
        expect(await kept.keys()).toEqual(before);
        expect(await allTasks(kept.store)).toHaveLength(1);
      },
    );
  });

  describe('A removal', () => {
    const insertFinished = async (count: number) => {
      const finished = { title: 'done', finished: 1, created_at: now.toISOString() } as const;
      for (let i = 0; i < count; i += 1_000) await kept.store.insert(Array(1_000).fill(finished));
    };

    test('removing or restoring 12,000 tasks does not block other clients', async () => {
      await create(2);
      await insertFinished(12_000);
      const before = await kept.store.list({ filter: 'finished' });
      // Redis receives this command with the first step, and runs it before the second step.
      const between = () => kept.store.list({ filter: 'all' });
      const [cleared, whileClearing] = await Promise.all([kept.store.clearFinished('removal'), between()]);
      expect(cleared).toBe(12_000);
      expect(whileClearing).toMatchObject({ open: 2, finished: 8_000 });
      expect(await between()).toMatchObject({ open: 2, finished: 0 });
      expect(await kept.store.removed('removal')).toMatchObject({ count: 12_000, title: 'done' });
      const [restored, whileRestoring] = await Promise.all([kept.store.restore('removal'), between()]);
      expect(restored).toBe(12_000);
      expect(whileRestoring).toMatchObject({ open: 2, finished: 4_000 });
      const { tasks, open, finished } = await kept.store.list({ filter: 'finished' });
      expect({ tasks, open, finished }).toEqual({ tasks: before.tasks, open: 2, finished: 12_000 });
      expect(await kept.keys()).not.toContain('{tasks}:removal:removal');
    });

    test('removes each task once, even if two removals run concurrently', async () => {
      await insertFinished(10_000);
      const cleared = await Promise.all(['one', 'two'].map((removal) => kept.store.clearFinished(removal)));
      expect(Math.min(...cleared)).toBeGreaterThan(0);
      expect([await kept.store.restore('one'), await kept.store.restore('two')]).toEqual(cleared);
      expect(await kept.store.list({ filter: 'all' })).toMatchObject({ open: 0, finished: 10_000 });
    });

    test('clearing ends even if other clients finish tasks faster than it clears them', async () => {
      await insertFinished(5_000);
      const timed: Timed = async (name, run) => {
        if (name === 'clear') await insertFinished(5_000);
        return run();
      };
      // The first step finds 10,000 tasks, so three steps of 4,000 tasks are needed.
      expect(await redisStore(kept.redis, { timed }).clearFinished('removal')).toBe(12_000);
    });

    test('of 12,000 added tasks does not block other clients, keeps changed tasks, and can be retried', async () => {
      await create(1);
      const tasks = Array(12_000).fill({ title: 'added', finished: 0, created_at: now.toISOString() });
      const insert = await kept.store.insert(tasks);
      if (!insert) throw new Error('The insert is unknown.');
      expect(insert).toMatchObject({ first: '2', count: 12_000 });
      for (const id of ['2', '12001']) await kept.store.update(id, { title: 'changed' }, later);
      await create(1);
      const before = await allTasks(kept.store);
      const between = () => kept.store.list({ filter: 'all' });
      const [removed, meanwhile] = await Promise.all([kept.store.removeAdded(insert, 'removal'), between()]);
      expect(removed).toEqual({ removed: 11_998, kept: 2 });
      expect(meanwhile).toMatchObject({ open: 10_003 });
      expect(await kept.store.removeAdded(insert, 'removal')).toEqual(removed);
      expect((await allTasks(kept.store)).map(({ _id }) => _id)).toEqual(['1', '2', '12001', '12002']);
      expect(await kept.store.restore('removal')).toBe(11_998);
      expect(await allTasks(kept.store)).toEqual(before);
    });

    test('is listed while it can be undone', async () => {
      await create(5);
      for (const id of ['1', '2', '3']) await kept.store.update(id, { finished: 1 }, now);
      for (const id of ['4', '5', '1']) await kept.store.destroy(id, `removal ${id}`);
      await kept.redis.zincrby('{tasks}:removals', -60, 'removal 4');
      await kept.redis.zincrby('{tasks}:removals', 60, 'removal 1');
      await kept.store.restore('removal 5');
      // Restored removals must not take up places in the list.
      expect(await kept.redis.zrange('{tasks}:removals', '0', '-1')).toEqual(['removal 4', 'removal 1']);
      const listed = await kept.store.removals();
      expect(listed).toMatchObject([
        { removal: 'removal 1', count: 1, title: expect.any(String) },
        { removal: 'removal 4', count: 1 },
      ]);
      const age = Date.now() - Date.parse(listed[1]?.removed_at ?? '');
      expect(age).toBeGreaterThan(50_000);
      expect(age).toBeLessThan(120_000);
      // Make both removals a day old.
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

    test('that continues after an interruption expires a day after its first task', async () => {
      await create(2);
      await kept.store.destroy('1', 'removal');
      await kept.redis.expire('{tasks}:removal:removal', 1_000);
      await kept.redis.zincrby('{tasks}:removals', -5, 'removal');
      const began = await kept.redis.zscore('{tasks}:removals', 'removal');
      await kept.store.destroy('2', 'removal');
      expect(await kept.redis.ttl('{tasks}:removal:removal')).toBeLessThanOrEqual(1_000);
      expect(await kept.redis.zscore('{tasks}:removals', 'removal')).toBe(began);
    });

    test('can be undone once within a day', async () => {
      await create(3);
      await kept.store.destroy('1', 'first');
      expect(await kept.redis.ttl('{tasks}:removal:first')).toBeGreaterThan(24 * 60 * 60 - 60);
      await kept.store.destroy('2', 'second');
      // Make the first removal a day and two minutes old.
      await kept.redis.del('{tasks}:removal:first');
      await kept.redis.zincrby('{tasks}:removed', -(24 * 60 + 2) * 60, '1');
      // The second removal is a day old, but its key expires later in the same second.
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

  test('The same nonce and title add only one task within a day', async () => {
    const milk = (at: Date) => kept.store.create({ title: 'milk' }, at, 'nonce');
    const [first, second] = await Promise.all([milk(now), milk(later)]);
    expect(second).toEqual(first);
    const [key = ''] = (await kept.keys()).filter((name) => name.startsWith('{tasks}:nonce:'));
    const day = 24 * 60 * 60;
    expect(await kept.redis.ttl(key)).toBeGreaterThan(day - 60);
    expect(await kept.redis.ttl(key)).toBeLessThanOrEqual(day);
    await kept.store.create({ title: 'bread' }, now, 'nonce');
    expect(await ids({ filter: 'all' })).toEqual(['2', '1']);
  });

  test('A form that sends a list again adds only the new lines', async () => {
    const open = (title: string) => ({ title, finished: 0 as const, created_at: now.toISOString() });
    const send = (titles: string, form?: 'form') => kept.store.insert([...titles].map(open), 'nonce', form);
    for (const titles of ['ba', 'ca', 'dcbaa', 'ab']) await send(titles, 'form');
    const list = await kept.store.list({ filter: 'all' });
    expect(
      list.tasks
        .map(({ title }) => title)
        .toSorted()
        .join(''),
    ).toBe('aabcd');
    await send('dcb');
    expect(await ids({ filter: 'all' })).toHaveLength(8);
  });

  describe('A known page', () => {
    const found = (known?: Page) => kept.store.list({ filter: 'all' }, known);

    test('is returned until a change sets a new version', async () => {
      const changes = [
        () => create(1),
        () => kept.store.update('1', { title: 'bread' }, now),
        () => kept.store.update('1', { finished: 1 }, now),
        () => kept.store.destroy('1', 'removal'),
        () => kept.store.restore('removal'),
        () => kept.store.clearFinished('removal'),
        () => kept.store.insert([{ title: 'more', finished: 0, created_at: now.toISOString() }]),
      ];
      const pages = [await found()];
      for (const change of changes) {
        expect(await found(pages.at(-1))).toBe(pages.at(-1));
        await change();
        pages.push(await found(pages.at(-1)));
      }
      expect(new Set(pages.map(({ version }) => version)).size).toBe(8);
    });

    test('has a version that never repeats, even after a restore or if the clock is set back', async () => {
      await create(1);
      const older = (await found()).version;
      await kept.store.update('1', { finished: 1 }, now);
      const page = await found();
      await kept.redis.set('{tasks}:version', older);
      expect(await found(page)).not.toBe(page);
      await kept.store.update('1', { finished: 0 }, now);
      expect(BigInt((await found()).version)).toBeGreaterThan(BigInt(page.version));
      const ahead = 2_000_000_000_000_000;
      await kept.redis.set('{tasks}:version', `${ahead}`);
      await kept.store.update('1', { finished: 1 }, now);
      expect((await found()).version).toBe(`${ahead + 1}`);
    });
  });

  test('list() takes one round trip and the same commands for 200 and 20,000 tasks', async () => {
    /** Counts the calls to each Redis command for the first two pages. */
    const commands = async () => {
      await kept.redis.config('RESETSTAT');
      await kept.store.list({ filter: 'all', after: (await kept.store.list({ filter: 'all' })).next });
      const calls = [...(await kept.redis.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g)];
      const counts = calls.map(([, name, count]) => [name, Number(count)] as const);
      return Object.fromEntries(counts.filter(([name]) => !['config', 'info'].includes(name ?? '')));
    };
    const open = (i: number) => ({ title: `task ${i}`, finished: 0, created_at: now.toISOString() }) as const;
    await kept.store.insert(Array.from({ length: 210 }, (_, i) => open(i)));
    await kept.store.list({ filter: 'all' }); // loads the script
    const few = await commands();
    for (let i = 0; i < 40; i++) await kept.store.insert(Array.from({ length: 500 }, (_, j) => open(j)));
    expect(await commands()).toEqual(few);
    expect(few).toMatchObject({ evalsha: 2, zrange: 3, zcard: 2, zcount: 3 });
    expect(Object.keys(few)).not.toEqual(expect.arrayContaining([expect.stringMatching(/keys|scan|sort/)]));
  });

  describe('Redis', () => {
    test.each([
      ['it is full', 'maxmemory', 'The store is full. Delete tasks or clear finished tasks'],
      ['it lacks a required replica', 'min-replicas-to-write', 'A replica of the store is down'],
    ])('refuses writes with a reason if %s', async (_, option, reason) => {
      await create(2);
      const before = await kept.keys();
      const end = await enable(option);
      const refused = { code: 'store_unavailable', message: expect.stringContaining(reason) };
      await expect(kept.store.create({ title: 'milk' }, now, 'nonce')).rejects.toMatchObject(refused);
      await expect(kept.store.update('1', { finished: 1 }, now)).rejects.toMatchObject(refused);
      await end();
      expect(await kept.keys()).toEqual(before);
      expect(await kept.store.show('1')).toMatchObject({ finished: 0 });
    });

    test('allows removals and Undo even if its memory is full', async () => {
      await create(3);
      await kept.store.update('1', { finished: 1 }, now);
      await kept.store.destroy('3', 'older');
      // Make the removal a day and two minutes old.
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

  describe('The CSRF key', () => {
    test('is created once for all replicas and can be read while Redis is full', async () => {
      const [first, second] = await Promise.all([csrfKey(kept.redis)(), csrfKey(kept.redis)()]);
      expect(first).toHaveLength(32);
      expect(first).toEqual(second);
      await fill();
      expect(await csrfKey(kept.redis)()).toEqual(first);
    });

    test('is the same for all replicas within seconds after the store is replaced', async () => {
      const before = csrfKey(kept.redis);
      const old = await before();
      await kept.empty();
      const key = await csrfKey(kept.redis)();
      expect(key).not.toEqual(old);
      await expect.poll(before).toEqual(key);
    });

    test('is restored to an emptied store, so that open forms stay valid', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const key = csrfKey(kept.redis);
      const known = await key();
      await kept.empty();
      vi.advanceTimersByTime(2_000);
      await key();
      await expect.poll(() => kept.redis.get(keys.csrfKey)).toBe(known.toString('hex'));
    });
  });

  test('reads the next batch of titles while the first is being searched', async () => {
    const task = { title: 'milk', finished: 0, created_at: now.toISOString() } as const;
    await kept.store.insert(Array(4_001).fill(task));
    const scripts: string[] = [];
    const timed: Timed = (name, run) => {
      scripts.push(name);
      return run();
    };
    await redisStore(kept.redis, { timed }).titles('all')[Symbol.asyncIterator]().next();
    await expect.poll(() => scripts).toEqual(['titles', 'titles']);
  });

  describe('The schema of the keys', () => {
    const schema = '{tasks}:schema';
    /** Calls each write method once. */
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

    test('is 1 by default, and every key has the prefix {tasks}:', async () => {
      expect(await kept.redis.get(schema)).toBe('1');
      for (const key of await kept.keys()) expect(key).toMatch(/^\{tasks\}:/);
      await kept.redis.del(schema);
      await Promise.all(writes());
      expect(await kept.redis.get(schema)).toBe('1');
    });

    test('a newer schema blocks writes, but not reads', async () => {
      await kept.redis.set(schema, '2');
      const state = async () => {
        const keys = (await kept.keys()).filter((key) => key !== schema);
        return Promise.all(keys.map((key) => kept.redis.dumpBuffer(key)));
      };
      const before = await state();
      const message = expect.stringMatching(/^A newer release has changed .* Start the newer release/);
      const reason = { code: 'store_unavailable', message };
      for (const result of await Promise.allSettled(writes())) expect(result).toMatchObject({ reason });
      expect(await state()).toEqual(before);
      expect(await ids({ filter: 'all' })).toEqual(['2', '1']);
      expect(await kept.store.show('2')).toMatchObject({ title: 'task 2' });
      expect(await kept.store.removed('removal')).toMatchObject({ count: 1 });
      expect(await allTasks(kept.store)).toHaveLength(2);
    });
  });
});
