import { createHistogram } from 'node:perf_hooks';
import type { Load } from './measure.ts';

export interface OneByOne {
  /** Done before each request, and not measured. */
  before?(): Promise<void>;
  /** @returns whether it got the answer that was asked for. */
  request(): Promise<boolean>;
  /** Requests that are under way at once. */
  users?: number;
}

/** Sends requests for so many seconds; each user's next one leaves when the one before is answered. */
export async function oneByOne(seconds: number, { before, request, users = 1 }: OneByOne): Promise<Load> {
  const latencies = createHistogram();
  const end = performance.now() + seconds * 1_000;
  let failed = 0;
  let busy = 0;
  const user = async () => {
    while (performance.now() < end) {
      await before?.();
      const started = performance.now();
      if (!(await request())) failed += 1;
      const milliseconds = performance.now() - started;
      latencies.record(Math.max(1, Math.round(milliseconds * 1_000)));
      busy += milliseconds / 1_000;
    }
  };
  await Promise.all(Array.from({ length: users }, user));
  return {
    requests: latencies.count,
    failed,
    seconds: busy / users,
    p50: latencies.percentile(50) / 1_000,
    p99: latencies.percentile(99) / 1_000,
  };
}
