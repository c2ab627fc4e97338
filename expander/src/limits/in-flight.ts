import type { Gauge } from 'prom-client';
import type { Unshorten } from '../expansion/expansion.ts';

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
