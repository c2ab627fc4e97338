import type { Histogram } from 'prom-client';

/**
 * Bucket bounds in seconds. A delayed acknowledgement (40 ms) has its own bucket (0.035 to 0.05). The last buckets have the
 * deadlines of the expander (8 s) and the proxy (10 s).
 */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

type Labels = Record<string, string>;

/**
 * Observes how long `run` takes. An error gets the label `error_type`.
 *
 * @param describe returns further labels for a result.
 */
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

/** The code or the class of an error. Its message may contain a client's input. */
function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}

/** Runs an operation on Redis and times it. `operation` is the name of a command or a script. */
export type Timed = <Reply>(operation: string, run: () => Promise<Reply>) => Promise<Reply>;

/** Runs without timing. */
export const untimed: Timed = (_, run) => run();
