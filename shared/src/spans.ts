import { AsyncLocalStorage } from 'node:async_hooks';

/** What is told of a span or a request: nothing that people sent, so no title, no URL and no query. */
export type Facts = Record<string, string | number | boolean>;

/** One thing that a request waited for, such as a hop or a command of Redis. */
export interface Span {
  name: string;
  /** Milliseconds since 1970, with fractions. */
  start: number;
  /** Absent while it lasts. */
  seconds?: number;
  /** The code or the name of what went wrong. */
  error?: string;
  facts?: Facts;
}

/** A request as its service saw it. */
export interface ObservedRequest {
  /** The proxy's request id, which is its trace id. */
  requestId: string;
  service: string;
  method: string;
  /** The pattern of the route; absent where no route matched. */
  route?: string | undefined;
  status: number;
  error?: string | undefined;
  /** Milliseconds since 1970, with fractions. */
  start: number;
  seconds: number;
  spans: readonly Span[];
}

/** Spans of one request: a list of thousands of URLs has thousands of hops. */
const maxSpans = 64;

const underWay = new AsyncLocalStorage<Span[]>();

/** Runs `answer`; what it does from now on adds its spans to `spans`. */
export const collectSpans = <Result>(spans: Span[], answer: () => Result): Result =>
  underWay.run(spans, answer);

/**
 * Begins a span of the request under way. The returned function ends it, and says how many seconds it took.
 * Outside of a request it only takes the time.
 */
export function beginSpan(name: string): (outcome?: { error?: string; facts?: Facts }) => number {
  const spans = underWay.getStore();
  const begun = performance.now();
  const span: Span | undefined =
    spans && spans.length < maxSpans ? { name, start: performance.timeOrigin + begun } : undefined;
  if (span) spans?.push(span);
  return (outcome) => {
    const seconds = (performance.now() - begun) / 1_000;
    if (span) Object.assign(span, { seconds }, outcome);
    return seconds;
  };
}

/** The name of an error for a span or a label: its code if it has one. Its message may say what people sent. */
function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}

/** Waits for what another request has begun, as a span of this one. */
export async function sharing<Result>(name: string, result: Promise<Result>): Promise<Result> {
  const end = beginSpan(name);
  try {
    return await result;
  } finally {
    end();
  }
}

/**
 * Bucket bounds in seconds. The 40 ms of a delayed acknowledgement have a bucket of their own (0.035 to 0.05); the last
 * ones are the deadlines of the expander (8 s) and of the proxy (10 s).
 */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

type Labels = Record<string, string>;

/** A histogram of seconds. */
export interface Durations {
  observe(labels: Labels, seconds: number): void;
}

interface Timing<Result> {
  durations: Durations;
  labels?: Labels;
  /** What a result says: further labels, and the facts of the span. */
  describe?: (result: Result) => { labels?: Labels; facts?: Facts };
}

/** Takes the time of `run`, as a span of the request under way and in a histogram, where an error is `error_type`. */
export async function timed<Result>(
  name: string,
  run: () => Promise<Result>,
  { durations, labels, describe }: Timing<Result>,
): Promise<Result> {
  const end = beginSpan(name);
  try {
    const result = await run();
    const { labels: more, ...outcome } = describe?.(result) ?? {};
    durations.observe({ ...labels, ...more }, end(outcome));
    return result;
  } catch (error) {
    const error_type = errorName(error);
    durations.observe({ ...labels, error_type }, end({ error: error_type }));
    throw error;
  }
}

/**
 * Runs an operation on Redis and takes its time, as a span of the request and in the metrics.
 *
 * @param operation one of a few names: a command, or a script.
 * @param facts what the reply says of the operation itself, such as how many shared its round trip.
 */
export type Timed = <Reply>(
  operation: string,
  run: () => Promise<Reply>,
  facts?: (reply: Reply) => Facts,
) => Promise<Reply>;

/** Takes no time. */
export const untimed: Timed = (_, run) => run();

/** Times operations on Redis, by the labels of OpenTelemetry's database conventions (1.44). */
export function timedOperations(durations: Durations): Timed {
  return (operation, run, facts) =>
    timed(`redis ${operation}`, run, {
      durations,
      labels: { db_system_name: 'redis', db_operation_name: operation },
      ...(facts && { describe: (reply) => ({ facts: facts(reply) }) }),
    });
}
