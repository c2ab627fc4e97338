import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import { keys } from './keys.ts';

/** Milliseconds that replicas have to confirm a write. */
const waitTime = 500;

/**
 * Returns a function that runs a script of `lua/` in one round trip. The first lines of a script list its arguments and result.
 * The JSON of an empty Lua table is `{}`, even if it represents an array.
 *
 * @param replicas number of replicas that must confirm a write. Scripts of one event loop turn share a WAIT, which
 *   blocks the connection, so writes need their own.
 */
export function scripts(redis: StoreClient, timed: Timed = untimed, replicas = 0) {
  for (const [name, lua] of sources) redis.defineCommand(`tasks:${name}`, { lua, numberOfKeys: 0 });
  const commands = redis as unknown as Record<string, (args: string) => Promise<string | null>>;
  let wait: Promise<void> | undefined;
  const waitForReplicas = async () => {
    await setImmediate();
    wait = undefined;
    const confirmed = await redis.wait(replicas, waitTime).catch((cause) => {
      throw new Error('UNCONFIRMED: none answered', { cause });
    });
    if (confirmed < replicas) throw new Error(`UNCONFIRMED: ${confirmed} of ${replicas} replicas confirmed`);
  };
  const run = async (name: string, args: object) => {
    const reply = commands[`tasks:${name}`]?.(JSON.stringify(args));
    if (replicas > 0) wait ??= waitForReplicas();
    return (await Promise.all([reply, wait]))[0];
  };
  return async <Reply>(name: string, args: object): Promise<Reply> => {
    const reply = await storeReply(timed(name, () => run(name, args)));
    return reply && JSON.parse(reply);
  };
}

const folder = `${import.meta.dirname}/lua`;
const namedKeys = Object.entries(keys).map(([name, key]) => `${name} = '${key}'`);
const prelude = `local keys = { ${namedKeys.join(', ')} }
local args = cjson.decode(ARGV[1])
${readFileSync(`${folder}/shared.lua`, 'utf8')}`;

/** The scripts by name, after the shared functions. Their flags (`#!lua flags=…`) have to stay the first line. */
const sources = readdirSync(folder).map((file) => {
  const lua = readFileSync(`${folder}/${file}`, 'utf8');
  const [flags = ''] = /^#!.*\n/.exec(lua) ?? [];
  return [file.replace('.lua', ''), `${flags}${prelude}\n${lua.slice(flags.length)}`] as const;
});

const unavailable = 'The tasks cannot be reached just now. Please try again in a moment.';

/** Advice by the first word of Redis's error. */
const reasons = new Map([
  ['OOM', 'The store is full. Delete tasks or clear the finished ones; that frees space a day later.'],
  [
    'NEWER',
    'A newer release has changed how tasks are stored, so this one saves nothing. Start the newer release, or restore a backup from before it.',
  ],
  ['NOREPLICAS', 'A copy of the store is missing, so nothing is saved. Please try again in a moment.'],
  ['UNCONFIRMED', 'This may have been saved, but a copy of the store is missing. Try again in a moment.'],
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
