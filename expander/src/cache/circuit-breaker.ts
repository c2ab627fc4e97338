import { type Timed, untimed } from '@longhand/shared/durations.ts';
import type { Log } from '@longhand/shared/log.ts';
import { within } from '../expansion/deadline.ts';

/** Milliseconds for an operation. */
const timeout = 250;
/** Milliseconds between probes. */
const pause = 1_000;

const late = Symbol('late');

/**
 * A circuit breaker. An operation that takes longer than 250 ms opens the circuit. Then one operation a second probes the
 * dependency, and all others fail at once, until a probe succeeds in time.
 *
 * @param name the dependency's name in messages.
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
