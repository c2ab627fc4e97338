import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';

/**
 * On a full disk, each write crashes Redis and breaks reads. After two crashes, this refuses writes until Redis has run for
 * 12 s, and again if the next write crashes it. Docker delays the restart of a container that ran for less than 10 s.
 *
 * @param interval milliseconds from Redis's restart to the next write
 * @returns a function that runs a write, or throws TaskError `store_unavailable`
 */
export function holdWrites(redis: StoreClient, interval = 12_000) {
  let underWay = 0;
  /** Consecutive disconnections during writes. */
  let ends = 0;
  let heldUntil = 0;
  // A write's own error is not enough: if the client reconnects quickly, the command times out instead.
  const closed = () => {
    if (underWay > 0) ends += 1;
    if (ends > 1) heldUntil = Number.POSITIVE_INFINITY;
  };
  const ready = () => {
    // Another replica's write may have crashed Redis, so every replica waits.
    if (ends > 1) heldUntil = performance.now() + interval;
    redis.once('close', closed);
  };
  redis.on('ready', ready);
  if (redis.status === 'ready') ready();

  return async <Reply>(write: () => Promise<Reply>): Promise<Reply> => {
    if (performance.now() < heldUntil) {
      throw new TaskError(
        'store_unavailable',
        'Nothing can be saved just now. Please try again in a moment.',
      );
    }
    underWay += 1;
    try {
      const reply = await write();
      [ends, heldUntil] = [0, 0];
      return reply;
    } finally {
      underWay -= 1;
    }
  };
}
