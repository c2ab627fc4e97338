import type { Unshorten } from '../expansion/expansion.ts';

/** Counts what is in progress. */
export interface Gauge {
  inc(): void;
  dec(): void;
}

/** A layer that counts the expansions in progress. */
export function countExpansions(gauge: Gauge) {
  return (unshorten: Unshorten): Unshorten =>
    async (target, options) => {
      gauge.inc();
      try {
        return await unshorten(target, options);
      } finally {
        gauge.dec();
      }
    };
}
