import type { Histogram } from 'prom-client';

/** Histogram buckets (s). Separate buckets show delayed acknowledgements (40 ms) and deadlines (8 s and 10 s). */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

type Labels = Record<string, string>;

/** Records the duration of `run` with the labels from `describe`, or with `error_type` if `run` fails. */
export async function timed<Result>(
  durations: Pick<Histogram, 'startTimer'>,
  labels: Labels,
  run: () => Promise<Result>,
  describe?: (result: Result) => Labels,
): Promise<Result> {
  const end = durations.startTimer(labels);
  try {
    const result = await run();
    end(describe?.(result));
    return result;
  } catch (error) {
    end({ error_type: errorName(error) });
    throw error;
  }
}

/** Returns the code or class of an error, because the message could contain client input. */
const errorName = (error: unknown) => `${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`;

/** Runs and times a Redis operation. `operation` is the name of a command or script. */
export type Timed = <Reply>(operation: string, run: () => Promise<Reply>) => Promise<Reply>;

export const untimed: Timed = (_, run) => run();

/** Resolves with the result of `work`, or with `late` after `milliseconds`. */
export async function within<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> {
  const timeout = Promise.withResolvers<Late>();
  const timer = setTimeout(timeout.resolve, milliseconds, late);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds until `deadline` (a time of `performance.now`); 0 if it has passed, because timers reject negative times. */
export const timeUntil = (deadline: number): number => Math.max(0, deadline - performance.now());
