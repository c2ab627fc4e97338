import { readFileSync } from 'node:fs';
import { gathered } from '@longhand/shared/gathered.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import type { ChainableCommander } from 'ioredis';
import { Refusal } from './refusal.ts';

type Args = (string | number)[];

/** Runs one script with the keys and arguments that its first lines name: one step, one round trip. */
export type Script<Reply> = (keys: string[], values: Args) => Promise<Reply>;

type Call = [command: string, args: Args];
type Replied = [error: Error | null, reply: unknown];

/** The scripts of `lua/` for `redis`, by their names. */
export function scripts(redis: StoreClient) {
  // The client would send them together by itself, but hold them back until the ones before are answered, which
  // takes as long as the disk: they meet there anyway.
  const call = gathered(async (calls: Call[]): Promise<Replied[]> => {
    const pipeline = redis.pipeline();
    for (const [command, args] of calls) {
      (pipeline as unknown as Record<string, (...args: Args) => ChainableCommander>)[command]?.(...args);
    }
    return (await pipeline.exec()) ?? [];
  });
  return <Reply>(name: string): Script<Reply> => {
    const files = ['shared', name].map((file) => `${import.meta.dirname}/lua/${file}.lua`);
    const command = `tasks:${name}`;
    redis.defineCommand(command, { lua: files.map((file) => readFileSync(file, 'utf8')).join('\n') });
    const run = async (args: Args): Promise<Reply> => {
      const [error, reply] = (await call([command, args])) ?? [];
      if (error) throw error;
      return reply as Reply;
    };
    return (keys, values) => answer(run([keys.length, ...keys, ...values]));
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
