import type { Attributes, Span, SpanStatusCode } from '@opentelemetry/api';
import type { Histogram } from 'prom-client';

type StartSpan = (name: string) => Span;

let startSpan: StartSpan | undefined;

/** From now on `timed` records a span of what it runs, begun by `start`. Until then OpenTelemetry need not be loaded. */
export function makeSpans(start: StartSpan): void {
  startSpan = start;
}

const failed: SpanStatusCode.ERROR = 2;

/** The name of an error for a span or a label. Not its message, which may contain what clients sent. */
function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}

/**
 * Bucket bounds in seconds. The 40 ms of a delayed acknowledgement have a bucket of their own (0.035 to 0.05); the last
 * ones are the deadlines of the expander (8 s) and of the proxy (10 s).
 */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

type Labels = Record<string, string>;

interface Timing<Result> {
  durations?: Pick<Histogram, 'startTimer'>;
  labels?: Labels;
  /** What a result says: further labels, and attributes of the span, nothing that clients sent. */
  describe?: (result: Result) => { labels: Labels; facts: Attributes };
}

/** Times `run`, as a span of the current request and in a histogram, where an error is `error_type`. */
export async function timed<Result>(
  name: string,
  run: () => Promise<Result>,
  { durations, labels, describe }: Timing<Result> = {},
): Promise<Result> {
  const end = durations?.startTimer(labels);
  const span = startSpan?.(name);
  try {
    const result = await run();
    const { labels: more, facts } = describe?.(result) ?? {};
    if (facts) span?.setAttributes(facts);
    end?.(more);
    return result;
  } catch (error) {
    const error_type = errorName(error);
    span?.setAttribute('error.type', error_type).setStatus({ code: failed });
    end?.({ error_type });
    throw error;
  } finally {
    span?.end();
  }
}

/**
 * Runs an operation on Redis and times it, as a span of the request and in the metrics.
 *
 * @param operation one of a few names: a command, or a script.
 */
export type Timed = <Reply>(operation: string, run: () => Promise<Reply>) => Promise<Reply>;

/** Runs without timing. */
export const untimed: Timed = (_, run) => run();
