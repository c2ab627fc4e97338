import { durationBuckets } from '@longhand/shared/durations.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The expander's own metrics, registered in `registry`. */
export function createExpanderMetrics(registry: Registry) {
  const registers = [registry];
  const lookups = new Counter({
    name: 'expander_cache_lookups_total',
    help: 'Lookups in the caches, by tier (memory, redis) and result (hit, miss, failed).',
    labelNames: ['tier', 'result'],
    registers,
  });
  for (const tier of ['memory', 'redis'])
    for (const result of ['hit', 'miss', 'failed']) lookups.inc({ tier, result }, 0);

  return {
    cacheLookups: lookups,
    ends: new Counter({
      name: 'expander_expansions_total',
      help: 'Expansions, cached ones included, by the code of their end.',
      labelNames: ['end'],
      registers,
    }),
    keyRequests: new Counter({
      name: 'expander_key_requests_total',
      help: 'Requests with a key, by its name; - is an unknown key.',
      labelNames: ['key'],
      registers,
    }),
    refusedTargets: new Counter({
      name: 'expander_targets_refused_total',
      help: 'Targets that the public-address guard refused.',
      registers,
    }),
    hopDurations: new Histogram({
      name: 'expander_hop_duration_seconds',
      help: 'Time of a hop, by the class of its status or the code of its error.',
      labelNames: ['status_class', 'error_type'],
      buckets: durationBuckets,
      registers,
    }),
    inFlight: new Gauge({
      name: 'expander_expansions_in_flight',
      help: 'Expansions in progress that no cache answered.',
      registers,
    }),
    hopsWaiting: new Gauge({
      name: 'expander_hops_waiting',
      help: 'Hops that wait for a place at their website.',
      registers,
    }),
    nameLookups: new Gauge({
      name: 'expander_lookups_in_flight',
      help: 'Names that are being looked up.',
      registers,
    }),
  };
}
