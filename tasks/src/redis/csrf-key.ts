import { randomBytes } from 'node:crypto';
import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { StoreClient } from '@longhand/shared/redis.ts';
import { keys } from './keys.ts';
import { storeReply } from './scripts.ts';

/** Milliseconds between reads of the key, so that all replicas agree soon after a restore. */
const maxAge = 2_000;

/**
 * Returns the master key for CSRF tokens and sessions. The first replica creates the key. Returns the last
 * known key while the store is down, so that failed forms can be shown again.
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
    // A full Redis refuses even a SET that would change nothing.
    const found = await redis.get(keys.csrfKey);
    if (found !== null) return found;
    const own = (known ?? randomBytes(32)).toString('hex');
    // Redis returns the existing key if another replica was first.
    return (await redis.set(keys.csrfKey, own, 'NX', 'GET')) ?? own;
  };
  return async () => {
    if (!known) return read();
    if (performance.now() - checked >= maxAge) read().catch(() => {});
    return known;
  };
}
