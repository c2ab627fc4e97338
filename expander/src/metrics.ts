import { durationBuckets } from '@longhand/shared/durations.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The expander's own metrics, registered in `registry`. */
export function createExpanderMetrics(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });

  const cacheLookups = counter(
    'expander_cache_lookups_total',
    'Cache lookups, by tier (memory, redis) and result (hit, miss, failed).',
    'tier',
    'result',
  );
  for (const tier of ['memory', 'redis'])
    for (const result of ['hit', 'miss', 'failed']) cacheLookups.inc({ tier, result }, 0);

  return {
    cacheLookups,
    ends: counter('expander_expansions_total', 'Expansions by end code, including cached expansions.', 'end'),
    keyRequests: counter(
      'expander_key_requests_total',
      'Requests with a key, by key name; - is an unknown key.',
      'key',
    ),
    refusedTargets: counter('expander_targets_refused_total', 'Targets refused by the public-address guard.'),
    hopDurations: new Histogram({
      name: 'expander_hop_duration_seconds',
      help: 'Hop duration, by status class or error code.',
      labelNames: ['status_class', 'error_type'],
      buckets: durationBuckets,
      registers,
    }),
    inFlight: gauge('expander_expansions_in_flight', 'Expansions in progress, excluding cache hits.'),
    hopsWaiting: gauge('expander_hops_waiting', 'Hops waiting for a free slot at their website.'),
  };
}
