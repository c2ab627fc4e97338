import type { Gauge } from 'prom-client';
import { overloaded } from '../expansion/errors.ts';
import type { FetchHop, Unshorten } from '../expansion/expansion.ts';

/** Limits the background refreshes of each client: beside the 48 of its lists they leave room at an origin for single requests. */
export const limitRefreshes = createLimit<Parameters<Unshorten>>({
  max: 4,
  keys: (_, { client, refresh }) => (client !== undefined && refresh ? [client] : []),
  message: () => 'Too many refreshes for your address are in progress',
});

/** Limits the expansions that each client waits for, whoever started them: for its lists (96), and in total. */
export const limitClients = createLimit<Parameters<Unshorten>>({
  max: 256,
  keys: (_, { client }) => (client === undefined ? [] : [client]),
  message: () => 'Too many expansions for your address are in progress',
});

/** Limits the expansions in flight. */
export const limitExpansions = (gauge?: Gauge) =>
  createLimit<Parameters<Unshorten>>({
    max: 1_024,
    keys: () => ['all'],
    message: () => 'Too many expansions are in progress',
    gauge,
  });

/** Limits the hops in flight at each origin: a host that hangs uses up its own share only. */
export const limitOrigins = createLimit<Parameters<FetchHop>>({
  max: 64,
  keys: ({ origin }) => [origin],
  message: (origin) => `Too many expansions are waiting for ${origin}`,
});

/** Limits how many of these one client has: those of its lists (48) and some single ones. Others have the rest. */
export const limitClientsAtOrigins = createLimit<Parameters<FetchHop>>({
  max: 56,
  keys: ({ origin }, { clients }) => Array.from(clients ?? [], (client) => `${client} ${origin}`),
  message: () => 'Too many expansions for your address are waiting for one website',
});

interface LimitSettings<Call extends unknown[]> {
  /** Calls in flight for each key. */
  max: number;
  /** A call counts for the first of its keys that has room. Without a key it is not limited. */
  keys: (...call: Call) => readonly string[];
  /** What there is too much of, for a key. */
  message: (key: string) => string;
  gauge?: Gauge | undefined;
}

/** A layer that limits the calls in flight; beyond the limit it throws an ExpansionError `overloaded`. */
function createLimit<Call extends unknown[]>({ max, keys, message, gauge }: LimitSettings<Call>) {
  return <Result>(next: (...call: Call) => Promise<Result>) => {
    const inFlight = new Map<string, number>();
    const of = (key: string) => inFlight.get(key) ?? 0;
    return async (...call: Call): Promise<Result> => {
      const candidates = keys(...call);
      const [first] = candidates;
      if (first === undefined) return next(...call);
      const key = candidates.find((candidate) => of(candidate) < max);
      if (key === undefined) throw overloaded(message(first));
      inFlight.set(key, of(key) + 1);
      gauge?.inc();
      try {
        return await next(...call);
      } finally {
        gauge?.dec();
        const left = of(key) - 1;
        if (left > 0) inFlight.set(key, left);
        else inFlight.delete(key);
      }
    };
  };
}
