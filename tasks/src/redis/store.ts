import { hash, randomUUID } from 'node:crypto';
import type { Timed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import { oneAtATime } from '../task/places.ts';
import { taskSchema } from '../task/schema.ts';
import {
  cursor,
  type Insert,
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

/** Lifetime of nonces and removals, in seconds. */
const day = 24 * 60 * 60;

/** Tasks per export script, which blocks Redis, and whose reply blocks the event loop, for about a millisecond. */
const exportBatch = 100;

/** Maximum titles per search script, and their bytes. The script blocks Redis for a few milliseconds. */
const titleBatch = 2_000;
const titleBytes = 128 * 1024;

/** Tasks per clear or restore script, which blocks Redis for about 12 ms. */
const removalBatch = 4_000;

/** Tasks per script that takes back an insert: fewer than per removal, because the script also compares their revisions. */
const takeBackBatch = 2_000;

const taskNames = taskSchema.keyof().options;

/** A task in a script's reply, with all values as strings. */
type Fields = Record<keyof NewTask | '_id' | 'revision', string>;

/** What makes a retry safe: `nonce` for the same tasks, or `form` for each line. `key` names the request. */
interface Once {
  nonce?: string | undefined;
  form?: string | undefined;
  key?: string | undefined;
}

type Tasks = { tasks: Fields[] };
type Found = (Omit<Page, 'tasks'> & Tasks) | undefined;
type Titles = { titles: [id: string, title: string][]; next?: string };
type Cleared = { cleared: number; left: number };
type TakenBack = { removed: number; kept: number };
type Restored = { restored: number; total: number };
type InsertFields = Record<'first' | 'revision', string> & { count: number };
/** `task` is the first task; null if a form had only tasks that it had sent before. */
type Inserted = { task: Fields; insert: InsertFields | null };
type Listed = Removed & { time: string };
/** Undefined if the ID is unknown. */
type Changed = { matched: boolean; task: Fields } | undefined;

interface StoreOptions {
  timed?: Timed;
  interval?: number;
  replicas?: number;
}

/**
 * Stores the tasks in Redis. Most methods run one script, in one round trip. Methods that handle many tasks run several
 * scripts, so that Redis can serve other clients in between.
 *
 * @param options.interval see `holdWrites`
 * @param options.replicas number of replicas that must confirm a write. With 1 or more, writes use a separate connection.
 */
export function redisStore(redis: StoreClient, options: StoreOptions = {}): TaskStore {
  const read = scripts(redis, options.timed);
  const write = writeScripts(redis, options);
  const add = (tasks: NewTask[], once: Once) =>
    write<Inserted>('insert', { tasks, ...hashesOf(once, tasks), seconds: day });
  const find = async (ids: string[]) => tasksOf(await read<Tasks>('find', { ids }));

  // Searches share one queue, so that Redis can serve other clients between two scripts.
  const scan = oneAtATime();

  return {
    async list(query, known) {
      requireCursor(query);
      const found = await read<Found>('list', { ...query, count: pageSize, known: known?.version });
      return found ? { ...found, tasks: tasksOf(found) } : (known as Page);
    },

    async show(id) {
      return requireTask((await find([id]))[0]);
    },

    async create(written, now, nonce, key) {
      const task: NewTask = { ...written, finished: 0, created_at: now.toISOString() };
      const created = await add([task], { nonce, key });
      return { task: taskOf(created.task), insert: insertOf(created.insert) };
    },

    async update(id, change, now, match = '*') {
      return requireMatch(await write<Changed>('update', { id, match, change, now: now.toISOString() }));
    },

    async destroy(id, removal, match = '*') {
      requireMatch(await write<Changed>('destroy', { id, match, removal, seconds: day }));
    },

    async clearFinished(removal) {
      const step = () => write<Cleared>('clear', { removal, seconds: day, count: removalBatch });
      let { cleared: count, left } = await step();
      try {
        // The loop always ends, because `left` does not include tasks that are finished during the loop.
        for (; left > 0; left -= removalBatch) count += (await step()).cleared;
      } catch (error) {
        throw Object.assign(error as TaskError, { count });
      }
      return count;
    },

    async removeAdded({ first, count, revision }, removal) {
      const end = Number(first) + count;
      let removed = 0;
      let kept = 0;
      for (let next = Number(first); next < end; next += takeBackBatch) {
        const range = { first: next, count: Math.min(takeBackBatch, end - next), match: `"${revision}"` };
        const step = await write<TakenBack>('remove-added', { ...range, removal, seconds: day });
        // The script counts the whole removal, also for a retry.
        removed = step.removed;
        kept += step.kept;
      }
      return { removed, kept };
    },

    removed: (removal) => read<Removed | undefined>('removed', { removal }),

    async removals() {
      const found = await read<{ removals: Listed[] }>('removals', { count: listedRemovals + 1 });
      return Object.values(found.removals).map(({ time, ...removal }) => {
        return { ...removal, removed_at: new Date(Number(time) * 1000).toISOString() };
      });
    },

    async restore(removal, nonce) {
      const once = { nonce: hash('sha256', `restore\n${nonce || randomUUID()}\n${removal}`), seconds: day };
      const step = () => write<Restored>('restore', { removal, count: removalBatch, ...once });
      let { restored, total } = await step();
      while (restored === removalBatch) ({ restored, total } = await step());
      if (total === 0) throw new TaskError('unknown_removal', 'There is nothing left to undo here.');
      return total;
    },

    async insert(tasks, nonce, form, key) {
      if (tasks.length === 0) return undefined;
      return insertOf((await add(tasks, form ? { form: nonce, key } : { nonce })).insert);
    },

    async added(key) {
      return insertOf(await read<InsertFields | null>('added', { key: hash('sha256', key) }));
    },

    async *titles(filter) {
      const readFrom = (after?: string) =>
        scan('', () => read<Titles>('titles', { filter, after, count: titleBatch, bytes: titleBytes }));
      let reading: Promise<Titles> | undefined = readFrom();
      while (reading) {
        const found: Titles = await reading;
        // Redis reads the next batch while the caller searches this batch.
        reading = found.next ? readFrom(found.next) : undefined;
        reading?.catch(() => {}); // The caller may stop before the last batch.
        yield Object.values(found.titles);
      }
    },

    find: async (ids) => (ids.length > 0 ? find(ids) : []),

    async *export() {
      for (let first: string | undefined = '1'; first; ) {
        const found: Tasks & { next?: string } = await read('export', { first, count: exportBatch });
        yield tasksOf(found);
        first = found.next;
      }
    },
  };
}

/** Returns the hashes that Redis keeps to recognize a retry. */
function hashesOf({ nonce, form, key }: Once, tasks: NewTask[]): Once {
  const titles = tasks.map(({ title }) => title).join('\n');
  return {
    nonce: nonce && hash('sha256', `${nonce}\n${titles}`),
    form: form && hash('sha256', form),
    key: key && hash('sha256', key),
  };
}

function taskOf(fields: Fields): Task {
  const task: Partial<Record<keyof Task, unknown>> = {};
  for (const name of taskNames) if (fields[name] !== undefined) task[name] = fields[name];
  task.finished = fields.finished === '1' ? 1 : 0;
  task.revision = Number(fields.revision);
  return task as Task;
}

const insertOf = (fields: InsertFields | null): Insert | undefined =>
  fields ? { ...fields, revision: Number(fields.revision) } : undefined;

const tasksOf = ({ tasks }: Tasks) => Object.values(tasks).map(taskOf);

/** @throws TaskError `unknown_task` */
function requireTask(task: Task | undefined): Task {
  if (!task) throw new TaskError('unknown_task', 'There is no such task. Somebody may have deleted it.');
  return task;
}

/** A cursor is a score: open tasks have scores below -2^52, finished tasks above. @throws TaskError `bad_cursor` */
function requireCursor({ filter, after }: ListQuery): void {
  if (after === undefined) return;
  const cursorFilter = Number(after) < -(2 ** 52) ? 'open' : 'finished';
  if (cursor.test(after) && (filter === 'all' || filter === cursorFilter)) return;
  throw new TaskError('bad_cursor', 'This page of the list does not exist. Start from the first page.');
}

/** @throws TaskError `unknown_task`, RevisionChanged */
function requireMatch(changed: Changed): Task {
  const task = requireTask(changed && taskOf(changed.task));
  if (changed?.matched) return task;
  throw new RevisionChanged(task);
}

/** Returns a function that runs a script which writes. See `redisStore` for the options. */
function writeScripts(redis: StoreClient, { timed, interval, replicas = 0 }: StoreOptions) {
  const writer = replicas > 0 ? connectionForWrites(redis) : redis;
  const run = scripts(writer, timed, replicas);
  const hold = holdWrites(writer, interval);
  return <Reply>(name: string, args: object) =>
    hold(() => run<Reply>(name, { ...args, schema: schemaVersion }));
}

function connectionForWrites(redis: StoreClient): StoreClient {
  const writer = redis.duplicate();
  writer.on('error', () => {}); // The main connection logs errors.
  redis.once('end', () => writer.disconnect());
  return writer;
}
