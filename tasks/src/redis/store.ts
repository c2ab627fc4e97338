import { hash } from 'node:crypto';
import type { StoreClient } from '@longhand/shared/redis.ts';
import type { Timed } from '@longhand/shared/spans.ts';
import { RevisionChanged, TaskError } from '../task/errors.ts';
import { type Page, pageSize, type Task, type TaskStore } from '../task/task.ts';
import { type Fields, requireId, requireTask } from './fields.ts';
import { holdWrites } from './held-writes.ts';
import { channel, keys, listKeys } from './keys.ts';
import { assemblePage, type Found, scoreRange } from './pages.ts';
import { scripts } from './scripts.ts';

/** Seconds in which the same form makes no second task. */
const nonceLifetime = 24 * 60 * 60;

/** Seconds in which a removal can be undone. */
const removalLifetime = 24 * 60 * 60;

/** Tasks that one script of an export reads: a few milliseconds in which Redis does nothing else. */
const exportBatch = 500;

/** Tasks that one script removes or restores: about 12 ms in which Redis does nothing else. */
const removalBatch = 4_000;

/** A version that no page has. */
const noVersion = '-1';

/** What a script that checks the revision returns: whether it matched, and the task; null without a task. */
type Changed = [matched: 0 | 1, Fields] | null;

/**
 * The tasks in Redis. Each method is one script, which Redis runs as one step, and one round trip; methods that handle
 * any number of tasks run several scripts, so that Redis serves others in between.
 *
 * @param options.interval milliseconds between two attempts to write while writes end Redis, see `holdWrites`.
 * @param options.replicas how many have to confirm a write, on a connection that reads do not wait for.
 */
export function redisStore(
  redis: StoreClient,
  options: { timed?: Timed; interval?: number; replicas?: number } = {},
): TaskStore {
  const { timed, interval, replicas = 0 } = options;
  const writer = replicas > 0 ? connectionForWrites(redis) : redis;
  const script = scripts(redis, timed);
  const changing = scripts(writer, timed, replicas);
  const held = holdWrites(writer, interval);
  const writing = <Reply>(name: string) => held(changing<Reply>(name));
  const list = script<string | Found>('list');
  const show = script<Fields | null>('show');
  const create = writing<[id: string, revision: string, made?: Fields]>('create');
  const update = writing<Changed>('update');
  const destroy = writing<Changed>('destroy');
  const clear = writing<[cleared: number, left: number]>('clear');
  const removed = script<[number, string | null]>('removed');
  const restore = writing<number>('restore');
  const insert = writing<null>('insert');
  const read = script<[next: string | null, ids: string[], Fields[]]>('export');

  return {
    async list(query, known) {
      const range = scoreRange(query);
      const find = (version: string) => list(listKeys, [keys.task, ...range, pageSize + 1, version]);
      const found = await find(known?.version ?? noVersion);
      if (typeof found === 'string') return known as Page;
      // An unchanged task may be new on this page, if more than one moved up: then the whole page is read.
      return assemblePage(found, known) ?? (assemblePage((await find(noVersion)) as Found) as Page);
    },

    async show(id) {
      requireId(id);
      return requireTask(id, await show([keys.index, keys.task + id], [id]));
    },

    async create(title, now, nonce) {
      const nonceKey = keys.nonce + (nonce ? hash('sha256', `${nonce}\n${title}`) : '');
      const created = now.toISOString();
      const [id, revision, made] = await create(
        [...listKeys, keys.lastId, nonceKey],
        [keys.task, channel, title, created, nonce ? nonceLifetime : 0],
      );
      return requireTask(id, made ?? [title, '0', created, null, revision]);
    },

    async update(id, { title, finished }, now, match = '*') {
      requireId(id);
      const change = [title ?? '', finished ?? '', now.toISOString()];
      return requireMatch(id, await update([...listKeys, keys.task + id], [id, channel, match, ...change]));
    },

    async destroy(id, removal, match = '*') {
      requireId(id);
      const scriptKeys = [...listKeys, keys.task + id, keys.removed, keys.removal + removal];
      requireMatch(id, await destroy(scriptKeys, [id, keys.task, channel, match, removalLifetime]));
    },

    async clearFinished(removal) {
      const scriptKeys = [...listKeys, keys.removed, keys.removal + removal];
      const step = () => clear(scriptKeys, [keys.task, channel, removalLifetime, removalBatch]);
      let [count, left] = await step();
      try {
        // As many steps as there were tasks to clear, so that tasks finished meanwhile do not keep it going.
        for (; left > 0; left -= removalBatch) count += (await step())[0];
      } catch (error) {
        if (!(error instanceof TaskError)) throw error;
        return { count, stop: error };
      }
      return { count };
    },

    async removed(removal) {
      const [count, title] = await removed([keys.removal + removal], [keys.task]);
      return title === null ? undefined : { removal, count, ...(count === 1 && { title }) };
    },

    async restore(removal) {
      const scriptKeys = [...listKeys, keys.removed, keys.removal + removal];
      let count = 0;
      for (let restored = removalBatch; restored === removalBatch; count += restored) {
        restored = await restore(scriptKeys, [channel, removalBatch]);
      }
      if (count === 0) throw new TaskError('unknown_removal', 'There is nothing left to undo here.');
      return count;
    },

    async insert(tasks) {
      if (tasks.length === 0) return;
      const fields = tasks.flatMap((task) => [
        task.title,
        task.finished,
        task.created_at,
        task.updated_at ?? '',
      ]);
      await insert([...listKeys, keys.lastId], [keys.task, channel, ...fields]);
    },

    async *export() {
      for (let first: string | null = '1'; first; ) {
        const [next, ids, rows]: [string | null, string[], Fields[]] = await read(
          [keys.index, keys.lastId],
          [keys.task, first, exportBatch],
        );
        yield rows.map((fields, i) => requireTask(ids[i] as string, fields));
        first = next;
      }
    },
  };
}

/** @throws TaskError `unknown_task`, RevisionChanged */
function requireMatch(id: string, changed: Changed): Task {
  const task = requireTask(id, changed?.[1]);
  if (changed?.[0]) return task;
  throw new RevisionChanged(task);
}

function connectionForWrites(redis: StoreClient): StoreClient {
  const writer = redis.duplicate();
  writer.on('error', () => {}); // The other connection logs it.
  redis.once('end', () => writer.disconnect());
  return writer;
}
