import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import type { Script } from './scripts.ts';

/**
 * Milliseconds between two attempts to write, from when Redis is back. Docker restarts a container at once only if it
 * ran for 10 s; after a shorter run it waits twice as long as the time before.
 */
const defaultInterval = 12_000;

/**
 * On a full disk Redis exits on each write, which breaks reads, too. After two exits, refuse writes until Redis has run
 * for 12 s. A write that ends it again begins the next 12 s.
 *
 * @param interval milliseconds between two attempts.
 * @returns a function for the scripts that write. A write that is held back fails with TaskError `store_unavailable`.
 */
export function holdWrites(
  redis: StoreClient,
  interval = defaultInterval,
): <Reply>(script: Script<Reply>) => Script<Reply> {
  let underWay = 0;
  /** How often in a row the connection closed while writes were under way. */
  let ends = 0;
  let heldUntil = 0;
  // The error of a write would not tell: a client that soon reconnects drops the command, and it times out.
  const closed = () => {
    if (underWay > 0) ends += 1;
    if (ends > 1) heldUntil = Number.POSITIVE_INFINITY;
  };
  const ready = () => {
    // Also if another replica's write ended Redis: it has to run for long enough before the next attempt of any replica.
    if (ends > 1) heldUntil = performance.now() + interval;
    redis.once('close', closed);
  };
  redis.on('ready', ready);
  if (redis.status === 'ready') ready();

  return (script) => async (args) => {
    if (performance.now() < heldUntil) throw heldBack();
    underWay += 1;
    try {
      const reply = await script(args);
      [ends, heldUntil] = [0, 0];
      return reply;
    } finally {
      underWay -= 1;
    }
  };
}

const heldBack = () =>
  new TaskError('store_unavailable', 'Nothing can be saved just now. Please try again in a moment.');
