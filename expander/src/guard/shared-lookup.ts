import type { LookupAddress } from 'node:dns';
import { overloaded } from '../expansion/expansion-error.ts';
import type { InFlightGauge } from '../limits/bounds.ts';

/** Resolves a name to all its addresses, as `dns.lookup` does with `all: true`. */
export type Lookup = (hostname: string, options: { all: true }, callback: Resolved) => void;
type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Names that are looked up at a time: more could not be answered while anybody still waits for them. */
const most = 256;

/**
 * One look-up of a name at a time, and `overloaded` at once beyond 256. The system's resolver occupies a thread for
 * each, for as long as a name server keeps it waiting and whether or not anybody still waits: a slow name takes
 * one of them, not all, and many slow names hold up others for seconds, not minutes.
 */
export function sharedLookup(lookup: Lookup, gauge?: InFlightGauge): Lookup {
  const waiting = new Map<string, Resolved[]>();
  return (hostname, options, callback) => {
    const others = waiting.get(hostname);
    if (others) return void others.push(callback);
    if (waiting.size >= most) return callback(overloaded('Too many names are being looked up'), []);
    const callbacks = [callback];
    waiting.set(hostname, callbacks);
    gauge?.inc();
    lookup(hostname, options, (error, addresses) => {
      waiting.delete(hostname);
      gauge?.dec();
      for (const answer of callbacks) answer(error, addresses);
    });
  };
}
