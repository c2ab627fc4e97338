import { readFileSync } from 'node:fs';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { Refusal } from './refusal.ts';

/** Runs `lua/<name>.lua` with the keys and arguments that its first lines name: one step, one round trip. */
export function script<Reply>(redis: StoreClient, name: string) {
  const lua = ['shared', name].map((file) => readFileSync(`${import.meta.dirname}/lua/${file}.lua`, 'utf8'));
  const command = `tasks:${name}`;
  redis.defineCommand(command, { lua: lua.join('\n') });
  type Run = (...args: (string | number)[]) => Promise<Reply>;
  const run = (redis as unknown as Record<string, Run>)[command] as Run;
  return (keys: string[], values: (string | number)[]): Promise<Reply> =>
    answer(run.call(redis, keys.length, ...keys, ...values));
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
