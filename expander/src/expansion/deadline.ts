import { aborted, ExpansionError } from './expansion-error.ts';

/** A signal that is aborted with an ExpansionError: `timeout` when time is up, `aborted` when another one is. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Sets the time that is left, in place of what was set before. */
  set(milliseconds: number, message: string): void;
}

/** A deadline that ends early when `signal` is aborted; to be disposed of when the work is done. */
export function createDeadline(signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let time: number;
  let text: string;
  const abort = () => controller.abort(aborted(signal?.reason));
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    set(milliseconds, message) {
      text = message;
      if (timer && milliseconds === time) {
        timer.refresh();
        return;
      }
      clearTimeout(timer);
      time = milliseconds;
      timer = setTimeout(() => controller.abort(new ExpansionError('timeout', text)), milliseconds);
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
