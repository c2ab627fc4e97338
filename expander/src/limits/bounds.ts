import { overloaded } from '../expansion/errors.ts';
import type { ExpandUrl } from '../expansion/expansion.ts';

/** Expansions in flight. */
const maxInFlight = 1_024;
/** Expansions that one client waits for: its lists (96), and pages and scripts beside them. */
const maxPerClient = 256;

/** A gauge of work in flight. */
export interface InFlightGauge {
  inc(): void;
  dec(): void;
}

/** Runs `work`, counted under `key`. @throws ExpansionError `overloaded` where that key is at its limit. */
export type Limit = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** Limits the work in flight for each key to `max`; beyond it, `message` says what there is too much of. */
export function createLimit(max: number, message: (key: string) => string, gauge?: InFlightGauge): Limit {
  const inFlight = new Map<string, number>();
  return async (key, work) => {
    const others = inFlight.get(key) ?? 0;
    if (others >= max) throw overloaded(message(key));
    inFlight.set(key, others + 1);
    gauge?.inc();
    try {
      return await work();
    } finally {
      gauge?.dec();
      const left = (inFlight.get(key) ?? 1) - 1;
      if (left > 0) inFlight.set(key, left);
      else inFlight.delete(key);
    }
  };
}

/** Limits the expansions that each client waits for, whoever started them. */
export function limitClients(expandUrl: ExpandUrl): ExpandUrl {
  const limit = createLimit(maxPerClient, () => 'Too many expansions for your address are in progress');
  return (target, options) => {
    const { client } = options;
    return client === undefined
      ? expandUrl(target, options)
      : limit(client, () => expandUrl(target, options));
  };
}

/** Limits the expansions in flight. */
export function limitExpansions(gauge?: InFlightGauge) {
  return (expandUrl: ExpandUrl): ExpandUrl => {
    const limit = createLimit(maxInFlight, () => 'Too many expansions are in progress', gauge);
    return (target, options) => limit('', () => expandUrl(target, options));
  };
}
