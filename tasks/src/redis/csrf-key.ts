import type { StoreClient } from '@longhand/shared/redis.ts';
import { keys } from './keys.ts';
import { answer } from './scripts.ts';

/**
 * The key that request-forgery tokens are made with: kept in the store, made once by whichever replica
 * asks first, and the same for all of them.
 */
export function csrfKey(redis: StoreClient, random: () => Buffer): () => Promise<Buffer> {
  let known: Buffer | undefined;
  return async () => {
    if (known) return known;
    const mine = random().toString('hex');
    known = Buffer.from((await answer(redis.set(keys.csrfKey, mine, 'NX', 'GET'))) ?? mine, 'hex');
    return known;
  };
}
