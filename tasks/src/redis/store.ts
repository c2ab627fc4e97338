import { hash } from 'node:crypto';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { Refusal, RevisionChanged } from '../task/errors.ts';
import { type Filter, type ListQuery, type Page, pageSize, type Task, type TaskStore } from '../task/task.ts';
import { channel, keys, listKeys } from './keys.ts';
import { scripts } from './scripts.ts';

/** Seconds in which the same form makes no second task. */
const nonceLifetime = 24 * 60 * 60;

/** Seconds in which a removal can be undone. */
const removalLifetime = 24 * 60 * 60;

/** Tasks that one script of an export reads at most: a few milliseconds in which Redis does nothing else. */
const batchSize = 500;

/** Tasks that one script removes or brings back at most: some 12 ms in which Redis does nothing else. */
const removalBatch = 4_000;

/** The store's own scores part here: open tasks lie below, finished ones above. See `lua/shared.lua`. */
const parting = -(2 ** 52);

const ranges: Record<Filter, [first: string, last: string]> = {
  all: ['-inf', '+inf'],
  open: ['-inf', `(${parting}`],
  finished: [`(${parting}`, '+inf'],
};

const cursor = /^-[1-9]\d{0,15}$/;
const taskId = /^[1-9]\d{0,14}$/;

type Fields = [
  title: string | null,
  finished: string,
  created: string,
  updated: string | null,
  revision: string,
];

/** What `list.lua` finds where the version is not the known one. */
type Found = [
  version: string,
  open: number,
  finished: number,
  ids: string[],
  places: number[],
  rows: Fields[],
];

/** The version that nobody knows. */
const none = '-1';

/** What a script answers that a revision can stop: whether it matched, and the task; nothing without a task. */
type Changed = [matched: 0 | 1, Fields] | null;

/**
 * The tasks in Redis. Each method is one script, which Redis runs as one step, and one round trip; those that
 * have to do with any number of tasks are as many scripts as it takes for others to have their turn between.
 */
export function redisStore(redis: StoreClient): TaskStore {
  const script = scripts(redis);
  const list = script<string | Found>('list');
  const show = script<Fields | null>('show');
  const create = script<[id: string, revision: string, made?: Fields]>('create');
  const update = script<Changed>('update');
  const destroy = script<Changed>('destroy');
  const clear = script<[cleared: number, left: number]>('clear');
  const removed = script<[number, string | null]>('removed');
  const restore = script<number>('restore');
  const insert = script<null>('insert');
  const read = script<[string | null, string[], Fields[]]>('export');

  return {
    async list(query, known) {
      const [first, last] = range(query);
      const ask = (version: string) => list(listKeys, [keys.task, first, last, pageSize + 1, version]);
      const found = await ask(known?.version ?? none);
      if (typeof found === 'string') return known as Page;
      // An unchanged task that is new on this page: there was more going on than one step up.
      return page(found, known) ?? (page((await ask(none)) as Found) as Page);
    },
    async show(id) {
      if (!taskId.test(id)) throw unknownTask(id);
      const fields = await show([keys.index, keys.task + id], [id]);
      if (!fields) throw unknownTask(id);
      return task(id, fields);
    },
    async create(title, now, nonce) {
      const once = nonce ? [keys.nonce + hash('sha256', `${nonce}\n${title}`)] : [];
      const created = now.toISOString();
      const [id, revision, made] = await create(
        [...listKeys, keys.lastId, ...once],
        [keys.task, channel, title, created, nonceLifetime],
      );
      return task(id, made ?? [title, '0', created, null, revision]);
    },
    async update(id, { title, finished }, now, match = '*') {
      if (!taskId.test(id)) throw unknownTask(id);
      const change = [title ?? '', finished ?? '', now.toISOString()];
      return expected(id, await update([...listKeys, keys.task + id], [id, channel, match, ...change]));
    },
    async destroy(id, removal, match = '*') {
      if (!taskId.test(id)) throw unknownTask(id);
      const named = [...listKeys, keys.task + id, keys.removed, keys.removal + removal];
      expected(id, await destroy(named, [id, keys.task, channel, match, removalLifetime]));
    },
    async clearFinished(removal) {
      const named = [...listKeys, keys.removed, keys.removal + removal];
      const step = () => clear(named, [keys.task, channel, removalLifetime, removalBatch]);
      let [count, left] = await step();
      try {
        // As many steps as there were tasks to clear: those that are finished meanwhile do not keep it going.
        for (; left > 0; left -= removalBatch) count += (await step())[0];
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { count, stop: error };
      }
      return { count };
    },
    async removed(removal) {
      const [count, title] = await removed([keys.removal + removal], [keys.task]);
      return title === null ? undefined : { removal, count, ...(count === 1 && { title }) };
    },
    async restore(removal) {
      const named = [...listKeys, keys.removed, keys.removal + removal];
      let count = 0;
      for (let restored = removalBatch; restored === removalBatch; count += restored) {
        restored = await restore(named, [channel, removalBatch]);
      }
      if (count === 0) throw new Refusal('unknown_removal', 'There is nothing left to undo here.');
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
          [keys.task, first, batchSize],
        );
        yield rows.map((fields, i) => task(ids[i] as string, fields));
        first = next;
      }
    },
  };
}

function range({ filter, after }: ListQuery): [string, string] {
  const [first, last] = ranges[filter];
  if (after === undefined) return [first, last];
  const among = Number(after) < parting ? 'open' : 'finished';
  if (!cursor.test(after) || (filter !== 'all' && filter !== among)) {
    throw new Refusal('bad_cursor', 'This page of the list does not exist. Start from the first one.');
  }
  return [`(${after}`, last];
}

/** The page that was found, with the unchanged tasks of `known`; undefined where one of them is not there. */
function page([version, open, finished, ids, places, rows]: Found, known?: Page): Page | undefined {
  const fresh = new Map(places.map((place, i) => [place - 1, rows[i] as Fields]));
  const before = new Map([...(known?.tasks ?? []), known?.following].map((old) => [old?._id, old]));
  const tasks: Task[] = [];
  for (const [i, id] of ids.entries()) {
    const fields = fresh.get(i);
    const found = fields ? taskOf(id, fields) : before.get(id);
    if (found) tasks.push(found);
    else if (!fields) return undefined;
  }
  const shown = tasks.slice(0, pageSize);
  const following = tasks[pageSize];
  const next = following && { next: position(shown.at(-1) as Task), following };
  return { version, tasks: shown, open, finished, ...next };
}

/** The score of a task in the index, as `lua/shared.lua` has it, and the cursor of the page after it. */
function position({ _id, finished }: Task): string {
  return `${-Number(_id) + (finished ? 0 : parting)}`;
}

/** The task of an id, undefined where there is none. */
function taskOf(id: string, fields: Fields): Task | undefined {
  const [title, finished, created_at, updated_at, revision] = fields;
  if (title === null) return undefined;
  return {
    _id: id,
    title,
    finished: finished === '1' ? 1 : 0,
    created_at,
    ...(updated_at && { updated_at }),
    revision: Number(revision),
  };
}

/** @throws Refusal `unknown_task` */
function task(id: string, fields: Fields): Task {
  const found = taskOf(id, fields);
  if (!found) throw unknownTask(id);
  return found;
}

function expected(id: string, changed: Changed): Task {
  if (!changed) throw unknownTask(id);
  const found = task(id, changed[1]);
  if (changed[0]) return found;
  throw new RevisionChanged(found);
}

function unknownTask(id: string): Refusal {
  return new Refusal('unknown_task', `There is no task ${JSON.stringify(id)}.`);
}
