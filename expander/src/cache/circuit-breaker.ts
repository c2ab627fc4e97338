import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { Log } from '@longhand/shared/log.ts';
import { within } from '../expansion/deadline.ts';

/** Milliseconds an operation may take. */
const timeout = 250;
/** Milliseconds between two attempts while the circuit is open. */
const pause = 1_000;

const late = Symbol('late');

/**
 * A circuit breaker for something that may hang. An operation that takes longer than 250 ms opens the circuit; then one
 * operation a second tests whether it answers in time again, and all others fail at once.
 *
 * @param timed takes the time of each operation.
 * @returns runs an operation, and throws what it throws, or at once while the circuit is open.
 */
export function circuitBreaker(name: string, log: Pick<Log, 'warn' | 'info'>, timed: Timed = untimed): Timed {
  let open = false;
  let nextAttempt = 0;
  const attempt = async <T>(operation: () => Promise<T>) => {
    if (open) {
      if (performance.now() < nextAttempt) throw new Error(`${name} hangs`);
      nextAttempt = performance.now() + pause;
    }
    const result = await within(timeout, operation(), late);
    if (result === late) {
      const message = `${name} did not answer within ${timeout} ms`;
      if (!open) log.warn(`${message}; it is tried once a second until it does`);
      open = true;
      nextAttempt = performance.now() + pause;
      throw new Error(message);
    }
    if (open) log.info(`${name} answers again`);
    open = false;
    return result;
  };
  return (name, operation) => timed(name, () => attempt(operation));
}
