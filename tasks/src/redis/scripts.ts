import { readFileSync } from 'node:fs';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { type Timed, untimed } from '@longhand/shared/spans.ts';
import DataLoader from 'dataloader';
import type { ChainableCommander } from 'ioredis';
import { TaskError } from '../task/errors.ts';
import { keys } from './keys.ts';

/**
 * Runs a script with the arguments that its first lines name, in one step and one round trip, and resolves with what it
 * returns. An empty table of Lua comes as `{}`, even where a longer one is an array.
 */
export type Script<Reply> = (args?: object) => Promise<Reply>;

type Call = [command: string, args: string];
type Replied = [error: Error | null, reply: unknown, batch: number];

/** Milliseconds in which replicas have to confirm a write. */
const waitTime = 500;

/**
 * The scripts of `lua/`, by their names.
 *
 * @param replicas how many have to confirm what the scripts of one turn have changed. WAIT holds the connection
 *   meanwhile, so `redis` should be one for writes alone.
 */
export function scripts(redis: StoreClient, timed: Timed = untimed, replicas = 0) {
  // Calls of one turn of the event loop share a pipeline. ioredis would do the same, but keep the next pipeline back
  // until the one before is answered, which takes as long as an fsync.
  const callAll = async (calls: readonly Call[]): Promise<Replied[]> => {
    const pipeline = redis.pipeline();
    for (const [command, args] of calls) {
      (pipeline as unknown as Record<string, (args: string) => ChainableCommander>)[command]?.(args);
    }
    if (replicas > 0) pipeline.wait(replicas, waitTime);
    const replies = (await pipeline.exec()) ?? [];
    const unconfirmed = replicas > 0 ? tooFew(replicas, replies.pop()) : undefined;
    return replies.map(([error, reply]) => [error ?? unconfirmed ?? null, reply, calls.length]);
  };
  const turn = new DataLoader(callAll, {
    cache: false,
    batchScheduleFn: (run) => void setImmediate(run),
  });
  return <Reply>(name: string): Script<Reply> => {
    const command = `tasks:${name}`;
    redis.defineCommand(command, { lua: source(name), numberOfKeys: 0 });
    const run = async (args: string): Promise<[reply: unknown, batch: number]> => {
      const [error, reply, batch = 0] = (await turn.load([command, args])) ?? [];
      if (error) throw error;
      return [reply, batch];
    };
    return async (args = {}) => {
      const replied = timed(
        name,
        () => run(JSON.stringify(args)),
        ([, batch]) => ({ batch }),
      );
      const [reply] = await storeReply(replied);
      return typeof reply === 'string' ? JSON.parse(reply) : undefined;
    };
  };
}

/** Redis has carried out a write, but too few replicas have confirmed it: a failover may undo it. */
class Unconfirmed extends Error {}

/** @param waited the reply of WAIT: how many replicas have confirmed, also where the time was up. */
function tooFew(replicas: number, waited?: [error: Error | null, reply: unknown]): Unconfirmed | undefined {
  const [cause, confirmed] = waited ?? [];
  if (!cause && Number(confirmed) >= replicas) return undefined;
  return new Unconfirmed(`${confirmed ?? 'none'} of ${replicas} replicas confirmed`, { cause });
}

/** The names of `keys` in the scripts. */
const prelude = `local keys = { ${Object.entries(keys)
  .map(([name, key]) => `${name} = '${key}'`)
  .join(', ')} }\nlocal args = cjson.decode(ARGV[1])\n`;

/** A script with the shared functions in front of it; its flags (`#!lua flags=…`) have to stay the first line. */
function source(name: string): string {
  const [shared = '', own = ''] = ['shared', name].map((file) =>
    readFileSync(`${import.meta.dirname}/lua/${file}.lua`, 'utf8'),
  );
  const [flags = ''] = /^#!.*\n/.exec(own) ?? [];
  return `${flags}${prelude}${shared}\n${own.slice(flags.length)}`;
}

const unavailable = 'The tasks cannot be reached just now. Please try again in a moment.';
/** Removed tasks are kept for a day, so that they can be restored. */
const full = 'The store is full. Delete tasks or clear the finished ones; that frees space a day later.';

/** After a rollback to a release that does not know what the keys hold now. */
const newer =
  'A newer release has changed how tasks are stored, so this one saves nothing. Start the newer release, or restore a backup from before it.';

const perhaps = 'This may have been saved, but a copy of the store is missing. Please try again in a moment.';

/**
 * The reply of Redis.
 *
 * @throws TaskError `store_unavailable`, which says what people can do
 */
export async function storeReply<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    throw new TaskError('store_unavailable', reasonOf(cause), { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Unconfirmed) return perhaps;
  const { message = '' } = cause as Error;
  // Redis begins its error like this once it has reached `maxmemory`.
  if (message.startsWith('OOM')) return full;
  return message.startsWith('NEWER') ? newer : unavailable;
}
