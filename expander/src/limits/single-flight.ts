import { cacheKey } from '../cache/entry.ts';
import { failedExpansion } from '../expansion/expand.ts';
import type { Expansion, Hop, Trace } from '../expansion/expansion.ts';
import { createFlights } from './flights.ts';

/** One expansion at a time for a URL and mode: who asks while it is under way shares it, hop by hop. */
export function singleFlight(trace: Trace): Trace {
  const join = createFlights<Expansion, Hop>();
  return (url, options) =>
    join(
      cacheKey(url, options),
      { signal: options.signal ?? options.client?.signal, watch: options.onHop },
      async (signal, onHop) => trace(url, { ...options, signal, onHop }),
    ).catch((error) => failedExpansion(url, error));
}
