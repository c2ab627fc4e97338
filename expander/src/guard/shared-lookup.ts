import type { LookupAddress } from 'node:dns';
import type { Gauge } from 'prom-client';
import { overloaded } from '../expansion/errors.ts';

/** Resolves a name to all its addresses, as `dns.lookup` does with `all: true`. */
export type Lookup = (hostname: string, options: { all: true }, callback: Resolved) => void;
type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Names in lookup at a time: the answers of more would come after everybody's deadline. */
export const maxLookups = 256;

/**
 * One lookup of a name at a time, and `overloaded` beyond 256. The system's resolver blocks a thread for each until the
 * name server answers, even if nobody waits any more: a slow name takes one thread, not all, and many slow names
 * delay others for seconds, not minutes.
 */
export function sharedLookup(lookup: Lookup, gauge?: Gauge): Lookup {
  const waiting = new Map<string, Resolved[]>();
  return (hostname, options, callback) => {
    const others = waiting.get(hostname);
    if (others) return void others.push(callback);
    if (waiting.size >= maxLookups) return callback(overloaded('Too many names are being looked up'), []);
    const callbacks = [callback];
    waiting.set(hostname, callbacks);
    gauge?.inc();
    lookup(hostname, options, (error, addresses) => {
      waiting.delete(hostname);
      gauge?.dec();
      for (const resolved of callbacks) resolved(error, addresses);
    });
  };
}
