import { connected, type StoreClient } from '@longhand/shared/redis.ts';
import { TaskError } from '../task/errors.ts';
import type { Script } from './scripts.ts';

/**
 * Milliseconds between two attempts to write, from when Redis is back. Docker restarts a container at once only if it
 * ran for 10 s; after a shorter run it waits twice as long as the time before.
 */
const defaultInterval = 12_000;

/** Milliseconds an attempt waits for Redis to be back. */
const patience = 1_000;

/**
 * Holds writes back while they end Redis. On a full disk it exits at each write that it cannot append to its file, and
 * so takes the reads of everybody with it. After a write that ended the connection one write is tried, while the others
 * wait for it. If that one ends the connection too, all are refused but one every 12 s, until that one succeeds.
 *
 * @param interval milliseconds between two attempts.
 * @returns a function for the scripts that write. A write that is held back fails with TaskError `store_unavailable`.
 */
export function holdWrites(
  redis: StoreClient,
  interval = defaultInterval,
): <Reply>(script: Script<Reply>) => Script<Reply> {
  /** Whether the last write may have ended the connection. */
  let suspect = false;
  /** Writes under way. */
  let underWay = 0;
  let isReady = redis.status === 'ready';
  let heldUntil = 0;
  /** Resolves when the write that is tried has ended, with whether others may follow. */
  let attempt: Promise<boolean> | undefined;
  redis.on('ready', () => {
    isReady = true;
    // Another replica's write may have ended Redis: it has to run for long enough before the next attempt of any replica.
    if (heldUntil > 0) heldUntil = performance.now() + interval;
  });
  // The error of the write would not tell: a client that soon reconnects drops the command, and it times out.
  redis.on('close', () => {
    suspect ||= isReady && underWay > 0;
    isReady = false;
  });

  async function run<Reply>(write: () => Promise<Reply>): Promise<Reply> {
    underWay += 1;
    try {
      return await write();
    } finally {
      underWay -= 1;
    }
  }

  async function tryOne<Reply>(write: () => Promise<Reply>): Promise<Reply> {
    if (performance.now() < heldUntil) throw heldBack();
    await connected(redis, patience);
    if (redis.status !== 'ready') throw heldBack();
    suspect = false;
    return run(write).finally(() => {
      // Until Redis is back; then for the interval.
      const back = redis.status === 'ready' ? performance.now() + interval : Number.POSITIVE_INFINITY;
      heldUntil = suspect ? back : 0;
    });
  }

  return (script) => async (args) => {
    const write = () => script(args);
    if (attempt && !(await attempt)) throw heldBack();
    if (!suspect) return run(write);
    const trying = tryOne(write);
    attempt = trying.then(
      () => true,
      () => !suspect,
    );
    return trying.finally(() => {
      attempt = undefined;
    });
  };
}

const heldBack = () =>
  new TaskError('store_unavailable', 'Nothing can be saved just now. Please try again in a moment.');
