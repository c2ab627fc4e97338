import type { Log } from '@longhand/shared/log.ts';

/** Milliseconds an answer is waited for. */
const budget = 250;
/** Milliseconds between two attempts while no answers come. */
const pause = 1_000;

/** Tries an operation. @throws what it throws, or at once while the circuit is open. */
export type Attempt = <T>(operation: () => Promise<T>) => Promise<T>;

/**
 * A circuit breaker: an operation on something that hangs costs 250 ms once, and not once for everybody. After
 * one that took longer, a single one a second finds out whether it is over; all others fail at once.
 *
 * @param clock milliseconds that only ever grow.
 */
export function circuitBreaker(
  name: string,
  log: Pick<Log, 'warn' | 'info'>,
  clock = () => performance.now(),
): Attempt {
  let hangs = false;
  let nextAttempt = 0;
  const answered = () => {
    if (hangs) log.info(`${name} answers again`);
    hangs = false;
  };
  const silent = () => {
    if (!hangs)
      log.warn(`${name} did not answer within ${budget} ms; it is asked once a second until it does`);
    hangs = true;
    nextAttempt = clock() + pause;
  };
  return <T>(operation: () => Promise<T>) => {
    if (hangs) {
      if (clock() < nextAttempt) return Promise.reject(new Error(`${name} hangs`));
      nextAttempt = clock() + pause;
    }
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        silent();
        reject(new Error(`${name} did not answer within ${budget} ms`));
      }, budget);
      operation()
        .finally(() => clearTimeout(timer))
        .then((result) => {
          answered();
          resolve(result);
        }, reject);
    });
  };
}
