import type { StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import type { Script } from './scripts.ts';

/**
 * Milliseconds from Redis's restart to the next write. Docker restarts a container at once only if it ran for 10 s;
 * after shorter runs its delay doubles each time.
 */
const defaultInterval = 12_000;

/**
 * On a full disk Redis exits on each write, which breaks reads, too. After two exits, refuses writes until Redis has run
 * for 12 s; if the next write crashes it again, another 12 s begin.
 *
 * @returns a wrapper for scripts that write: a refused write fails with TaskError `store_unavailable`
 */
export function holdWrites(
  redis: StoreClient,
  interval = defaultInterval,
): <Reply>(script: Script<Reply>) => Script<Reply> {
  let underWay = 0;
  /** Consecutive disconnects during writes. */
  let ends = 0;
  let heldUntil = 0;
  // A write's error does not tell: if the client reconnects quickly, the command is dropped and times out.
  const closed = () => {
    if (underWay > 0) ends += 1;
    if (ends > 1) heldUntil = Number.POSITIVE_INFINITY;
  };
  const ready = () => {
    // Another replica's write may have crashed Redis: every replica waits.
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
