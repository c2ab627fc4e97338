import type { LookupAddress } from 'node:dns';

/** Resolves a name to all its addresses, as `dns.lookup` does with `all: true`. */
export type Lookup = (hostname: string, options: { all: true }, callback: Resolved) => void;
type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/**
 * One look-up of a name at a time. The system's resolver occupies a thread for each, for as long as a name
 * server cares to keep it waiting: a slow name takes one of them, not all.
 */
export function sharedLookup(lookup: Lookup): Lookup {
  const waiting = new Map<string, Resolved[]>();
  return (hostname, options, callback) => {
    const others = waiting.get(hostname);
    if (others) return void others.push(callback);
    const callbacks = [callback];
    waiting.set(hostname, callbacks);
    lookup(hostname, options, (error, addresses) => {
      waiting.delete(hostname);
      for (const answer of callbacks) answer(error, addresses);
    });
  };
}
