import { randomBytes } from 'node:crypto';
import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { keys } from './keys.ts';
import { storeReply } from './scripts.ts';

/** Milliseconds until a replica reads the key again, so that all replicas agree soon after the store was replaced. */
const maxAge = 2_000;

/**
 * The key from which CSRF tokens and sessions derive theirs. It is kept in the store, so that all replicas use the same
 * one; the first replica to ask makes it. Nobody waits for it to be read again. While the store is away the last known key
 * serves on: a form can still be shown again with what was typed.
 */
export function csrfKey(redis: StoreClient, timed: Timed = untimed): () => Promise<Buffer> {
  let known: Buffer | undefined;
  let checked = Number.NEGATIVE_INFINITY;
  const read = async () => {
    checked = performance.now();
    known = Buffer.from(await storeReply(timed('csrf key', readOrMake)), 'hex');
    return known;
  };
  const readOrMake = async () => {
    // A store that has reached `maxmemory` refuses every SET, even one that would change nothing.
    const found = await redis.get(keys.csrfKey);
    if (found !== null) return found;
    const own = (known ?? randomBytes(32)).toString('hex');
    // Another replica may have been faster.
    return (await redis.set(keys.csrfKey, own, 'NX', 'GET')) ?? own;
  };
  return async () => {
    if (!known) return read();
    if (performance.now() - checked >= maxAge) read().catch(() => {});
    return known;
  };
}
