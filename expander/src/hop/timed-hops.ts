import { durationBuckets } from '@longhand/shared/request-durations.ts';
import { beginSpan, errorName } from '@longhand/shared/spans.ts';
import { Histogram, type Registry } from 'prom-client';
import type { FetchHop } from '../expansion/expansion.ts';

/**
 * Times the hops that are requested, as spans of their requests and in the metrics. Of the answer only the class of the
 * status is a label, because websites choose it.
 */
export function timedHops(metrics: Registry) {
  const durations = new Histogram({
    name: 'expander_hop_duration_seconds',
    help: 'Time that a website takes to answer a hop, by the class of its status or the code of the error.',
    labelNames: ['status_class', 'error_type'],
    buckets: durationBuckets,
    registers: [metrics],
  });
  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const end = beginSpan('hop');
      try {
        const answer = await fetchHop(url, options);
        const { status, method } = answer;
        const status_class = status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
        durations.observe({ status_class }, end({ facts: { status, method } }));
        return answer;
      } catch (error) {
        const error_type = errorName(error);
        durations.observe({ error_type }, end({ error: error_type }));
        throw error;
      }
    };
}
