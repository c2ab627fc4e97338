import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { Refusal } from './refusal.ts';
import { type Change, type ListQuery, type Page, pageSize, type Task, type TaskStore } from './task.ts';

/** Every key has the one hash tag, so that a Redis Cluster keeps them together and scripts may use them. */
const keys = {
  /** A sorted set of all ids, in the order of the list. */
  index: '{tasks}:index',
  version: '{tasks}:version',
  lastId: '{tasks}:last-id',
  /** A hash for each task: this and its id. */
  task: '{tasks}:task:',
  /** The id of the task that a form made: this and a digest. */
  nonce: '{tasks}:nonce:',
  csrf: '{tasks}:csrf-key',
};

/** Redis tells every replica of each new version here. */
export const channel = '{tasks}:changes';

/** Seconds in which the same form makes no second task. */
const nonceLifetime = 24 * 60 * 60;

/** The store's own scores part here: open tasks lie below, finished ones above. See `lua/shared.lua`. */
const ranges = {
  all: ['-inf', '+inf'],
  open: ['-inf', '(-4503599627370496'],
  finished: ['(-4503599627370496', '+inf'],
} as const;

const cursor = /^-[1-9]\d{0,15}$/;
const taskId = /^[1-9]\d{0,14}$/;

type Fields = [
  title: string | null,
  finished: string,
  created: string,
  updated: string | null,
  revision: string,
];

/** The tasks in Redis. Each method is one script, which Redis runs as one step, and one round trip. */
export function redisStore(redis: Redis): TaskStore {
  const list = script<string | [string, number, number, string[], Fields[]]>(redis, 'list');
  const create = script<[string, Fields]>(redis, 'create');
  const update = script<Fields | null>(redis, 'update');

  return {
    async list(query, known = '') {
      const [first, last] = range(query);
      const found = await list([keys.index, keys.version], [keys.task, first, last, pageSize + 1, known]);
      return typeof found === 'string' ? undefined : page(...found);
    },
    async show(id) {
      if (!taskId.test(id)) throw unknownTask(id);
      const fields = await answer(
        redis.hmget(keys.task + id, 'title', 'finished', 'created_at', 'updated_at', 'revision'),
      );
      return task(id, fields as Fields);
    },
    async create(title, now, nonce) {
      const once = nonce
        ? [keys.nonce + createHash('sha256').update(`${nonce}\n${title}`).digest('hex')]
        : [];
      const made = [keys.index, keys.version, keys.lastId, ...once];
      return task(...(await create(made, [keys.task, channel, title, now.toISOString(), nonceLifetime])));
    },
    async update(id, { title, finished }: Change, now) {
      if (!taskId.test(id)) throw unknownTask(id);
      const changes = [id, channel, title ?? '', finished ?? '', now.toISOString()];
      return task(id, await update([keys.task + id, keys.index, keys.version], changes));
    },
  };
}

/**
 * The key that request-forgery tokens are made with: made once, by whichever replica asks first, and the
 * same for all of them.
 */
export function csrfKey(redis: Redis, random: () => Buffer): () => Promise<Buffer> {
  let known: Buffer | undefined;
  return async () => {
    if (known) return known;
    const mine = random().toString('hex');
    known = Buffer.from((await answer(redis.set(keys.csrf, mine, 'NX', 'GET'))) ?? mine, 'hex');
    return known;
  };
}

function range({ filter, after }: ListQuery): [string, string] {
  const [first, last] = ranges[filter];
  if (after === undefined) return [first, last];
  if (!cursor.test(after)) {
    throw new Refusal('bad_cursor', 'This page of the list does not exist. Start from the first one.');
  }
  return [`(${after}`, last];
}

function page(version: string, open: number, finished: number, ids: string[], rows: Fields[]): Page {
  const tasks = rows.flatMap((fields, i) => (fields[0] === null ? [] : [task(ids[i] as string, fields)]));
  const shown = tasks.slice(0, pageSize);
  const last = shown.at(-1);
  return {
    version,
    tasks: shown,
    open,
    finished,
    ...(last && tasks.length > pageSize && { next: position(last) }),
  };
}

/** The score of a task in the index, as `lua/shared.lua` has it, and the cursor of the page after it. */
function position({ _id, finished }: Task): string {
  return `${-Number(_id) - (finished ? 0 : 2 ** 52)}`;
}

function task(id: string, fields: Fields | null): Task {
  const [title, finished, created_at, updated_at, revision] = fields ?? [null];
  if (title === null) throw unknownTask(id);
  return {
    _id: id,
    title,
    finished: finished === '1' ? 1 : 0,
    created_at: created_at as string,
    ...(updated_at && { updated_at }),
    revision: Number(revision),
  };
}

function unknownTask(id: string): Refusal {
  return new Refusal('unknown_task', `There is no task ${JSON.stringify(id)}.`);
}

/** Runs `lua/<name>.lua` with the keys and arguments it names in its first lines. */
function script<Reply>(redis: Redis, name: string) {
  const lua = ['shared', name].map((file) => readFileSync(`${import.meta.dirname}/lua/${file}.lua`, 'utf8'));
  const command = `tasks:${name}`;
  redis.defineCommand(command, { lua: lua.join('\n') });
  const run = redis as unknown as Record<string, (...args: (string | number)[]) => Promise<Reply>>;
  return (named: string[], values: (string | number)[]): Promise<Reply> =>
    answer(
      (run[command] as NonNullable<(typeof run)[string]>).call(redis, named.length, ...named, ...values),
    );
}

/** What Redis answers; whatever it fails with, people can only try again. */
async function answer<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    throw new Refusal('store_unavailable', 'The tasks cannot be reached just now. Please try again.', {
      cause,
    });
  }
}
