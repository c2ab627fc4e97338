import type { StoreClient } from '@longhand/shared/redis.ts';
import { keys } from './keys.ts';

/** Milliseconds for which the answer to a ping counts. */
const maxAge = 1_000;

/**
 * Asks the store for a key at most once a second, however many ask meanwhile: they share the last answer, or wait for it.
 * It rejects as long as the store does not answer.
 *
 * @param clock milliseconds that only ever grow.
 */
export function recentPing(
  redis: Pick<StoreClient, 'exists'>,
  clock: () => number = () => performance.now(),
): () => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  let asked = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock() - asked >= maxAge) {
      asked = clock();
      last = redis.exists(keys.version);
    }
    return last;
  };
}
