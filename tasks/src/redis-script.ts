import { readFileSync } from 'node:fs';
import type { StoreClient } from '@longhand/shared/redis.ts';
import type { ChainableCommander } from 'ioredis';
import { Refusal } from './refusal.ts';

type Args = (string | number)[];

/** Runs one script with the keys and arguments that its first lines name: one step, one round trip. */
export type Script<Reply> = (keys: string[], values: Args) => Promise<Reply>;

/** The scripts of `lua/` for `redis`, by their names. */
export function scripts(redis: StoreClient) {
  const call = gathered(redis);
  return <Reply>(name: string): Script<Reply> => {
    const files = ['shared', name].map((file) => `${import.meta.dirname}/lua/${file}.lua`);
    const command = `tasks:${name}`;
    redis.defineCommand(command, { lua: files.map((file) => readFileSync(file, 'utf8')).join('\n') });
    return (keys, values) => answer(call(command, [keys.length, ...keys, ...values]) as Promise<Reply>);
  };
}

/**
 * Calls commands that one turn of the event loop makes together. The client would do that by itself, but
 * hold them back until the ones before are answered, which takes as long as the disk: they meet there anyway.
 */
function gathered(redis: StoreClient) {
  const begin = () => {
    const pipeline = redis.pipeline();
    const results = new Promise<void>((over) => setImmediate(over)).then(() => {
      open = undefined;
      return pipeline.exec();
    });
    return { pipeline, results };
  };
  let open: ReturnType<typeof begin> | undefined;

  return async (command: string, args: Args): Promise<unknown> => {
    open ??= begin();
    const { pipeline, results } = open;
    const place = pipeline.length;
    (pipeline as unknown as Record<string, (...args: Args) => ChainableCommander>)[command]?.(...args);
    const [error, reply] = (await results)?.[place] ?? [];
    if (error) throw error;
    return reply;
  };
}

/** What Redis answers; whatever it fails with, people can only try again. */
export async function answer<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    const message = 'The tasks cannot be reached just now. Please try again in a moment.';
    throw new Refusal('store_unavailable', message, { cause });
  }
}
