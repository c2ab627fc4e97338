import { hash } from 'node:crypto';
import type { Timed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import { oneAtATime } from '../task/one-at-a-time.ts';
import { taskSchema } from '../task/schema.ts';
import {
  cursor,
  type ListQuery,
  listedRemovals,
  type NewTask,
  type Page,
  pageSize,
  type Removed,
  RevisionChanged,
  type Task,
  type TaskStore,
} from '../task/task.ts';
import { holdWrites } from './held-writes.ts';
import { schemaVersion } from './keys.ts';
import { scripts } from './scripts.ts';

/** Seconds for which a form adds no second task and a removal can be undone. */
const day = 24 * 60 * 60;

/** Tasks per script of an export: it blocks Redis for a few milliseconds. */
const exportBatch = 500;

/** Titles per script of a search, and their bytes: it blocks Redis for a few milliseconds. */
const [titleBatch, titleBytes] = [2_000, 128 * 1024];

/** Tasks per script of a clear or restore: it blocks Redis for about 12 ms. */
const removalBatch = 4_000;

const taskNames = taskSchema.keyof().options;

/** A task as the scripts return it: every field is a string. */
type Fields = Record<keyof NewTask | '_id' | 'revision', string>;

interface Titles {
  titles: [id: string, title: string][];
  next?: string;
}

type Found = (Omit<Page, 'tasks'> & { tasks: Fields[] }) | undefined;

/** The reply of a script that checks the revision; undefined without a task. */
type Changed = { matched: boolean; task: Fields } | undefined;

/**
 * The tasks in Redis. A method is one script: one step and one round trip. Methods for any number of tasks run several
 * scripts, so that Redis serves other clients in between.
 *
 * @param options.interval see `holdWrites`
 * @param options.replicas number of replicas that have to confirm a write. Writes then have their own connection.
 */
export function redisStore(
  redis: StoreClient,
  options: { timed?: Timed; interval?: number; replicas?: number } = {},
): TaskStore {
  const { timed, interval, replicas = 0 } = options;
  const writer = replicas > 0 ? connectionForWrites(redis) : redis;
  const readScript = scripts(redis, timed);
  const writerScript = scripts(writer, timed, replicas);
  const hold = holdWrites(writer, interval);
  const writeScript = <Reply>(name: string) => {
    const write = hold(writerScript<Reply>(name));
    return (args: object) => write({ ...args, schema: schemaVersion });
  };
  const list = readScript<Found>('list');
  const show = readScript<Fields | undefined>('show');
  const insert = writeScript<Fields>('insert');
  const update = writeScript<Changed>('update');
  const destroy = writeScript<Changed>('destroy');
  const clear = writeScript<{ cleared: number; left: number }>('clear');
  const titles = readScript<Titles>('titles');
  const find = readScript<{ tasks: Fields[] }>('find');
  const removed = readScript<Removed | undefined>('removed');
  const removals = readScript<{ removals: (Removed & { time: string })[] }>('removals');
  const restore = writeScript<{ restored: number }>('restore');
  const read = readScript<{ tasks: Fields[]; next?: string }>('export');

  // Redis serves other clients between two scripts of searches.
  const scan = oneAtATime();

  return {
    async list(query, known) {
      requireCursor(query);
      const found = await list({ ...query, count: pageSize, known: known?.version });
      return found ? { ...found, tasks: Object.values(found.tasks).map(taskOf) } : (known as Page);
    },

    async show(id) {
      return requireTask(await show({ id }));
    },

    async create(written, now, nonce) {
      const task: NewTask = { ...written, finished: 0, created_at: now.toISOString() };
      return taskOf(await insert({ tasks: [task], ...onceOnly([task], nonce) }));
    },

    async update(id, change, now, match = '*') {
      const changed = await update({ id, match, change, now: now.toISOString() });
      return requireMatch(changed, change.title !== undefined);
    },

    async destroy(id, removal, match = '*') {
      requireMatch(await destroy({ id, match, removal, seconds: day }));
    },

    async clearFinished(removal) {
      const step = () => clear({ removal, seconds: day, count: removalBatch });
      let { cleared: count, left } = await step();
      try {
        // Tasks that are finished meanwhile add no steps.
        for (; left > 0; left -= removalBatch) count += (await step()).cleared;
      } catch (error) {
        throw Object.assign(error as TaskError, { count });
      }
      return count;
    },

    removed: (removal) => removed({ removal }),

    async removals() {
      const found = await removals({ count: listedRemovals + 1 });
      return Object.values(found.removals).map(({ time, ...removal }) => {
        return { ...removal, removed_at: new Date(Number(time) * 1000).toISOString() };
      });
    },

    async restore(removal) {
      let count = 0;
      for (let restored = removalBatch; restored === removalBatch; count += restored) {
        ({ restored } = await restore({ removal, count: removalBatch }));
      }
      if (count === 0) throw new TaskError('unknown_removal', 'There is nothing left to undo here.');
      return count;
    },

    async insert(tasks, nonce) {
      if (tasks.length > 0) await insert({ tasks, ...onceOnly(tasks, nonce) });
    },

    async *titles(filter) {
      const read = (after?: string) =>
        scan('', () => titles({ filter, after, count: titleBatch, bytes: titleBytes }));
      let reading: Promise<Titles> | undefined = read();
      while (reading) {
        const found: Titles = await reading;
        // Redis reads the next batch while the caller compares this one.
        reading = found.next ? read(found.next) : undefined;
        reading?.catch(() => {}); // The caller may stop before.
        yield Object.values(found.titles);
      }
    },

    async find(ids) {
      return ids.length > 0 ? Object.values((await find({ ids })).tasks).map(taskOf) : [];
    },

    async *export() {
      for (let first: string | undefined = '1'; first; ) {
        const found: { tasks: Fields[]; next?: string } = await read({ first, count: exportBatch });
        yield Object.values(found.tasks).map(taskOf);
        first = found.next;
      }
    },
  };
}

function taskOf(fields: Fields): Task {
  const task: Partial<Record<keyof Task, unknown>> = {};
  for (const name of taskNames) if (fields[name] !== undefined) task[name] = fields[name];
  task.finished = fields.finished === '1' ? 1 : 0;
  task.revision = Number(fields.revision);
  return task as Task;
}

/** @throws TaskError `unknown_task` */
function requireTask(fields: Fields | undefined): Task {
  if (!fields) throw new TaskError('unknown_task', 'Somebody deleted this task, or it never existed.');
  return taskOf(fields);
}

/** @throws TaskError `bad_cursor`; the scores of open tasks lie below -2^52, those of finished ones above. */
function requireCursor({ filter, after }: ListQuery): void {
  if (after === undefined) return;
  const cursorFilter = Number(after) < -(2 ** 52) ? 'open' : 'finished';
  if (cursor.test(after) && (filter === 'all' || filter === cursorFilter)) return;
  throw new TaskError('bad_cursor', 'This page of the list does not exist. Start from the first one.');
}

/** Arguments for `insert.lua` to insert the tasks of a form once. */
function onceOnly(tasks: NewTask[], nonce: string | undefined) {
  const titles = tasks.map(({ title }) => title).join('\n');
  return nonce && { nonce: hash('sha256', `${nonce}\n${titles}`), seconds: day };
}

/** @throws TaskError `unknown_task`, RevisionChanged */
function requireMatch(changed: Changed, titled = true): Task {
  const task = requireTask(changed?.task);
  if (changed?.matched) return task;
  throw new RevisionChanged(task, titled);
}

function connectionForWrites(redis: StoreClient): StoreClient {
  const writer = redis.duplicate();
  writer.on('error', () => {}); // The other connection logs it.
  redis.once('end', () => writer.disconnect());
  return writer;
}
