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
export function errorName(error: unknown): string {
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
