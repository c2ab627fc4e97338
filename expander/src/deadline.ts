import { ExpansionError } from './expansion-error.ts';

/** A signal that is aborted with an ExpansionError: `timeout` when time is up, `aborted` when `signal` is. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** Starts a deadline; to be disposed of when the work is done. */
export function deadline(milliseconds: number, message: string, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new ExpansionError('timeout', message)), milliseconds);
  const abort = () => {
    const { reason } = signal as AbortSignal;
    controller.abort(
      reason instanceof ExpansionError
        ? reason
        : new ExpansionError('aborted', 'Nobody waits for this any more.', { cause: reason }),
    );
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
