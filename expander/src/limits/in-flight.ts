import type { Gauge } from 'prom-client';
import type { FollowRedirects } from '../expansion/expansion.ts';

/** A layer that counts the expansions in progress. */
export function countExpansions(gauge: Gauge) {
  return (followRedirects: FollowRedirects): FollowRedirects =>
    async (target, options) => {
      gauge.inc();
      try {
        return await followRedirects(target, options);
      } finally {
        gauge.dec();
      }
    };
}
