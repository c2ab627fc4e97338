import { readFileSync } from 'node:fs';
import { createBatcher } from '@longhand/shared/batcher.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import type { ChainableCommander } from 'ioredis';
import { Refusal } from '../task/errors.ts';

type Args = (string | number)[];

/** Runs one script with the keys and arguments that its first lines name: one step, one round trip. */
export type Script<Reply> = (keys: string[], values: Args) => Promise<Reply>;

type Call = [command: string, args: Args];
type Replied = [error: Error | null, reply: unknown];

/** The scripts of `lua/` for `redis`, by their names. */
export function scripts(redis: StoreClient) {
  // The client would send them together by itself, but hold them back until the ones before are answered, which
  // takes as long as the disk: they meet there anyway.
  const call = createBatcher(async (calls: readonly Call[]): Promise<Replied[]> => {
    const pipeline = redis.pipeline();
    for (const [command, args] of calls) {
      (pipeline as unknown as Record<string, (...args: Args) => ChainableCommander>)[command]?.(...args);
    }
    return (await pipeline.exec()) ?? [];
  });
  return <Reply>(name: string): Script<Reply> => {
    const command = `tasks:${name}`;
    redis.defineCommand(command, { lua: source(name) });
    const run = async (args: Args): Promise<Reply> => {
      const [error, reply] = (await call([command, args])) ?? [];
      if (error) throw error;
      return reply as Reply;
    };
    return (keys, values) => answer(run([keys.length, ...keys, ...values]));
  };
}

/** A script with what all share in front of it; its flags (`#!lua flags=…`) have to stay the first line. */
function source(name: string): string {
  const [shared = '', own = ''] = ['shared', name].map((file) =>
    readFileSync(`${import.meta.dirname}/lua/${file}.lua`, 'utf8'),
  );
  const [flags = ''] = /^#!.*\n/.exec(own) ?? [];
  return `${flags}${shared}\n${own.slice(flags.length)}`;
}

/** What people can do; a task that was removed is kept for a day, so that it can be brought back. */
const away = 'The tasks cannot be reached just now. Please try again in a moment.';
const noRoom =
  'There is no room for this. Delete tasks or clear the finished ones; their room is free a day later.';

/** What Redis answers; where it fails, what people can do: try again, or make room. */
export async function answer<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    // What every error of a Redis begins with that has reached its `maxmemory`.
    const full = cause instanceof Error && cause.message.startsWith('OOM');
    throw new Refusal('store_unavailable', full ? noRoom : away, { cause });
  }
}
