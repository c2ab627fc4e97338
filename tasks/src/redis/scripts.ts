import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import { keys } from './keys.ts';

/** Milliseconds to wait for replicas to confirm a write. */
const waitTime = 500;

/**
 * Returns a function that runs a script from `lua/` in one round trip. Comments at the top of each script describe its
 * arguments and result. An empty Lua array becomes `{}` in JSON.
 *
 * @param replicas number of replicas that must confirm a write. Scripts sent in the same turn of the event loop share one
 *   WAIT. WAIT blocks the connection, so writes need their own connection.
 */
export function scripts(redis: StoreClient, timed: Timed = untimed, replicas = 0) {
  for (const [name, lua] of sources) redis.defineCommand(`tasks:${name}`, { lua, numberOfKeys: 0 });
  const commands = redis as unknown as Record<string, (args: string) => Promise<string | null>>;
  let wait: Promise<void> | undefined;
  const waitForReplicas = async () => {
    await setImmediate();
    wait = undefined;
    const confirmed = await redis.wait(replicas, waitTime).catch((cause) => {
      throw new Error('UNCONFIRMED: no reply to WAIT', { cause });
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

/** The scripts by name, with the shared functions prepended. The flags (`#!lua flags=…`) must be the first line. */
const sources = readdirSync(folder).map((file) => {
  const lua = readFileSync(`${folder}/${file}`, 'utf8');
  const [flags = ''] = /^#!.*\n/.exec(lua) ?? [];
  return [file.replace('.lua', ''), `${flags}${prelude}\n${lua.slice(flags.length)}`] as const;
});

const unavailable = 'The tasks cannot be reached just now. Please try again in a moment.';

/** Error messages, keyed by the first word of the Redis error. */
const messages = new Map([
  ['OOM', 'The store is full. Delete tasks or clear finished tasks. That frees space after a day.'],
  [
    'NEWER',
    'A newer release has changed the data format, so this release cannot save tasks. Start the newer release, or restore a backup from before the upgrade.',
  ],
  ['NOREPLICAS', 'A replica of the store is down, so changes cannot be saved. Please try again in a moment.'],
  [
    'UNCONFIRMED',
    'This change may have been saved, but a replica of the store is down. Please try again in a moment.',
  ],
]);

/** Waits for a reply from Redis. @throws TaskError `store_unavailable`, with advice for the user */
export async function storeReply<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    const [word = ''] = /^\w+/.exec((cause as Error).message) ?? [];
    throw new TaskError('store_unavailable', messages.get(word) ?? unavailable, { cause });
  }
}
