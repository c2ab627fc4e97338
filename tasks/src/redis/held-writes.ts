import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';

/**
 * Suspends writes after two consecutive writes have crashed Redis, for example because its disk is full. Reads continue to
 * work. Writes resume once Redis has run for 12 s, because Docker delays the next restart of a container that ran for less
 * than 10 s.
 *
 * @param interval milliseconds from the restart of Redis to the next write
 * @returns a function that runs a write, or throws TaskError `store_unavailable`
 */
export function holdWrites(redis: StoreClient, interval = 12_000) {
  let inFlight = 0;
  /** Number of consecutive disconnects during a write. */
  let crashes = 0;
  let heldUntil = 0;
  // Count disconnects, because a write may only time out if the client reconnects quickly.
  const closed = () => {
    if (inFlight > 0) crashes += 1;
    if (crashes > 1) heldUntil = Number.POSITIVE_INFINITY;
  };
  const ready = () => {
    // The wait starts again after each restart, because another replica's write may have crashed Redis.
    if (crashes > 1) heldUntil = performance.now() + interval;
    redis.once('close', closed);
  };
  redis.on('ready', ready);
  if (redis.status === 'ready') ready();

  return async <Reply>(write: () => Promise<Reply>): Promise<Reply> => {
    if (performance.now() < heldUntil) {
      throw new TaskError(
        'store_unavailable',
        'Changes cannot be saved just now. Please try again in a moment.',
      );
    }
    inFlight += 1;
    try {
      const reply = await write();
      [crashes, heldUntil] = [0, 0];
      return reply;
    } finally {
      inFlight -= 1;
    }
  };
}
