import { failedExpansion } from '../expansion/expand.ts';
import type { Ask, Trace } from '../expansion/expansion.ts';
import { overloaded } from '../expansion/expansion-error.ts';
import { maxLength, tooLong } from '../expansion/target.ts';

/** Expansions in flight at a time. */
const maxInFlight = 1_024;
/** Of these, at one origin: a host that hangs uses up its own share and nobody else's. */
const maxInFlightPerOrigin = 64;

/** Told of each piece of work that begins and that ends. */
export interface InFlightGauge {
  inc(): void;
  dec(): void;
}

/** Answers at once where a URL is longer than any that is expanded: the caches are not asked for it. */
export function boundedLength(trace: Trace): Trace {
  return (url, options) => (url.length > maxLength ? failedExpansion(url, tooLong()) : trace(url, options));
}

/** Answers `overloaded` at once where too many expansions are in flight. */
export function bounded(trace: Trace, gauge?: InFlightGauge): Trace {
  let inFlight = 0;
  return async (url, options) => {
    if (inFlight >= maxInFlight) return failedExpansion(url, overloaded('Too many expansions are under way'));
    inFlight += 1;
    gauge?.inc();
    try {
      return await trace(url, options);
    } finally {
      inFlight -= 1;
      gauge?.dec();
    }
  };
}

/** Answers `overloaded` at once where too many expansions wait for the same origin. */
export function boundedPerOrigin(ask: Ask): Ask {
  const inFlight = new Map<string, number>();
  return async (url, options) => {
    const origin = url.protocol + url.host;
    const others = inFlight.get(origin) ?? 0;
    if (others >= maxInFlightPerOrigin) throw overloaded(`Too many expansions wait for ${url.host}`);
    inFlight.set(origin, others + 1);
    try {
      return await ask(url, options);
    } finally {
      const left = (inFlight.get(origin) ?? 1) - 1;
      if (left > 0) inFlight.set(origin, left);
      else inFlight.delete(origin);
    }
  };
}
