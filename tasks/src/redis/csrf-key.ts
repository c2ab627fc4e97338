import type { StoreClient } from '@longhand/shared/redis.ts';
import { type Timed, untimed } from '@longhand/shared/spans.ts';
import { keys } from './keys.ts';
import { storeReply } from './scripts.ts';

/** Milliseconds until a replica reads the key again, so that all replicas agree soon after the store was replaced. */
const maxAge = 2_000;

/**
 * The key of the CSRF tokens. It is kept in the store, so that all replicas use the same one; the first replica to ask
 * makes it. Nobody waits for it to be read again. While the store is away the last known key serves on: a form can still
 * be shown again with what was typed.
 *
 * @param random makes a new key.
 * @param clock milliseconds, ascending.
 */
export function csrfKey(
  redis: StoreClient,
  random: () => Buffer,
  clock: () => number = () => performance.now(),
  timed: Timed = untimed,
): () => Promise<Buffer> {
  let known: Buffer | undefined;
  let checked = Number.NEGATIVE_INFINITY;
  const read = async () => {
    checked = clock();
    const own = known?.toString('hex') ?? random().toString('hex');
    const reply = timed('csrf key', () => redis.set(keys.csrfKey, own, 'NX', 'GET'));
    known = Buffer.from((await storeReply(reply)) ?? own, 'hex');
    return known;
  };
  return async () => {
    if (!known) return read();
    if (clock() - checked >= maxAge) read().catch(() => {});
    return known;
  };
}
