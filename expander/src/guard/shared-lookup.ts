import type { LookupAddress } from 'node:dns';
import type { Gauge } from 'prom-client';
import { ExpansionError } from '../expansion/errors.ts';
import type { FetchHop } from '../expansion/expansion.ts';

/** Resolves a name to all its addresses, as `dns.lookup` does with `all: true`. */
export type Lookup = (hostname: string, options: { all: true }, callback: Resolved) => void;
type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** One lookup of a name at a time. */
export function sharedLookup(lookup: Lookup, gauge?: Gauge) {
  const waiting = new Map<string, Resolved[]>();

  const shared: Lookup = (hostname, options, callback) => {
    const others = waiting.get(hostname);
    if (others) return void others.push(callback);
    const callbacks = [callback];
    waiting.set(hostname, callbacks);
    gauge?.inc();
    lookup(hostname, options, (error, addresses) => {
      waiting.delete(hostname);
      gauge?.dec();
      for (const resolved of callbacks) resolved(error, addresses);
    });
  };

  /**
   * A hop that was abandoned lasts until its name is looked up, which cannot be cancelled. So the limits on hops also bound
   * the lookups of clients that leave.
   */
  const untilLookedUp =
    (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      try {
        return await fetchHop(url, options);
      } catch (error) {
        const hasLeft = error instanceof ExpansionError && error.code === 'aborted';
        const callbacks = hasLeft && waiting.get(url.hostname);
        if (callbacks) await new Promise<void>((resolve) => callbacks.push(() => resolve()));
        throw error;
      }
    };

  return { lookup: shared, untilLookedUp };
}
