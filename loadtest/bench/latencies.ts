import { createHistogram } from 'node:perf_hooks';

/** Collects latencies in milliseconds, to the microsecond. */
export function latencyHistogram() {
  const histogram = createHistogram();
  return {
    record: (milliseconds: number) => histogram.record(Math.max(1, Math.round(milliseconds * 1_000))),
    summary: () => ({
      requests: histogram.count,
      p50: histogram.percentile(50) / 1_000,
      p99: histogram.percentile(99) / 1_000,
    }),
  };
}
