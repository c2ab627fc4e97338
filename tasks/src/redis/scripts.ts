import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import { keys } from './keys.ts';

/**
 * Runs a script in one step and one round trip. Its first lines name the arguments and the result. An empty Lua table
 * arrives as `{}`, even where a longer one is an array.
 */
export type Script<Reply> = (args?: object) => Promise<Reply>;

/** Milliseconds for replicas to confirm a write. */
const waitTime = 500;

/**
 * The scripts of `lua/` by name.
 *
 * @param replicas number of replicas that have to confirm a write. Scripts of one turn of the event loop share a WAIT,
 *   which blocks the connection: use one for writes alone.
 */
export function scripts(redis: StoreClient, timed: Timed = untimed, replicas = 0) {
  let wait: Promise<void> | undefined;
  const waitForReplicas = async () => {
    await setImmediate();
    wait = undefined;
    const confirmed = await redis.wait(replicas, waitTime).catch((cause) => {
      throw new Error('UNCONFIRMED: none answered', { cause });
    });
    if (confirmed < replicas) throw new Error(`UNCONFIRMED: ${confirmed} of ${replicas} replicas confirmed`);
  };
  return <Reply>(name: string): Script<Reply> => {
    const command = `tasks:${name}`;
    redis.defineCommand(command, { lua: source(name), numberOfKeys: 0 });
    const commands = redis as unknown as Record<string, (args: string) => Promise<string | null>>;
    const run = async (args: string) => {
      const reply = commands[command]?.(args);
      if (replicas > 0) wait ??= waitForReplicas();
      return (await Promise.all([reply, wait]))[0];
    };
    return async (args = {}) => {
      const reply = await storeReply(timed(name, () => run(JSON.stringify(args))));
      return reply && JSON.parse(reply);
    };
  };
}

const prelude = `local keys = { ${Object.entries(keys)
  .map(([name, key]) => `${name} = '${key}'`)
  .join(', ')} }\nlocal args = cjson.decode(ARGV[1])\n`;

/** A script after the shared functions; its flags (`#!lua flags=…`) have to stay the first line. */
function source(name: string): string {
  const [shared = '', own = ''] = ['shared', name].map((file) =>
    readFileSync(`${import.meta.dirname}/lua/${file}.lua`, 'utf8'),
  );
  const [flags = ''] = /^#!.*\n/.exec(own) ?? [];
  return `${flags}${prelude}${shared}\n${own.slice(flags.length)}`;
}

const unavailable = 'The tasks cannot be reached just now. Please try again in a moment.';

/** Advice, by the first word of the script's error. */
const reasons = new Map([
  // At `maxmemory`.
  ['OOM', 'The store is full. Delete tasks or clear the finished ones; that frees space a day later.'],
  // After a rollback to a release that does not know the current format.
  [
    'NEWER',
    'A newer release has changed how tasks are stored, so this one saves nothing. Start the newer release, or restore a backup from before it.',
  ],
  // With `min-replicas-to-write`.
  ['NOREPLICAS', 'A copy of the store is missing, so nothing is saved. Please try again in a moment.'],
  // Redis has written, but a failover may undo it.
  [
    'UNCONFIRMED',
    'This may have been saved, but a copy of the store is missing. Please try again in a moment.',
  ],
]);

/** @throws TaskError `store_unavailable` with advice, if Redis fails */
export async function storeReply<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    const [word = ''] = /^\w+/.exec((cause as Error).message) ?? [];
    throw new TaskError('store_unavailable', reasons.get(word) ?? unavailable, { cause });
  }
}
