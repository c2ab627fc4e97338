import type { Histogram } from 'prom-client';

/** Seconds. Delayed acknowledgements (40 ms) have their own bucket, and so have the deadlines of expander and proxy (8 s, 10 s). */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

type Labels = Record<string, string>;

/** Observes how long `run` takes. An error gets the label `error_type`, a result the labels from `describe`. */
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

/** An error's code or class. Its message may contain a client's input. */
const errorName = (error: unknown) => `${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`;

/** Runs and times an operation on Redis. `operation` is the name of a command or a script. */
export type Timed = <Reply>(operation: string, run: () => Promise<Reply>) => Promise<Reply>;

export const untimed: Timed = (_, run) => run();
