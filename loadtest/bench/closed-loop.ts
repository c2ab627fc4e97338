import { latencyHistogram } from './latencies.ts';
import type { LoadResult } from './measure.ts';

interface ClosedLoop {
  /** Runs before each request, unmeasured. */
  before?(): Promise<void>;
  /** @returns whether the response was correct. */
  request(): Promise<boolean>;
  /** Requests in flight. */
  concurrency?: number;
}

/** Sends requests for `seconds`: each user sends the next one when the previous is answered. */
export async function closedLoop(
  seconds: number,
  { before, request, concurrency = 1 }: ClosedLoop,
): Promise<LoadResult> {
  const latencies = latencyHistogram();
  const end = performance.now() + seconds * 1_000;
  let failed = 0;
  let busy = 0;
  const user = async () => {
    while (performance.now() < end) {
      await before?.();
      const started = performance.now();
      if (!(await request())) failed += 1;
      const milliseconds = performance.now() - started;
      latencies.record(milliseconds);
      busy += milliseconds / 1_000;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, user));
  return { ...latencies.summary(), failed, seconds: busy / concurrency };
}
