import { aborted, ExpansionError, overloaded } from '../expansion/errors.ts';
import { cacheKey, type Expansion, type Hop, type Unshorten } from '../expansion/expansion.ts';

/** Requests that wait for one expansion; each holds a connection and some memory. */
const maxWaiting = 1_024;

type Listener = (hop: Hop) => void;

/** An expansion in flight, and the requests that wait for it. */
interface Flight {
  expansion: Promise<Expansion>;
  /** For requests that join later. */
  hops: Hop[];
  /** One for each request that waits. */
  listeners: Set<Listener>;
  /** Their clients. The first one has caused the expansion. */
  clients: Set<string>;
  /** Stops the expansion. */
  abandon: () => void;
}

/**
 * One expansion at a time for each URL and mode: requests that arrive during it share it, hop by hop. A request whose
 * signal is aborted leaves at once; the last one to leave stops the expansion.
 */
export function singleFlight(unshorten: Unshorten): Unshorten {
  // Not a Map: its outgrown tables point to the newer ones, and V8's scavenger keeps finished flights alive through them.
  const flights: Record<string, Flight> = Object.create(null);

  const start: (key: string, ...request: Parameters<Unshorten>) => Flight = (key, target, options) => {
    const clients = new Set(options.client === undefined ? [] : [options.client]);
    const hops: Hop[] = [];
    const listeners = new Set<Listener>();
    const stop = new AbortController();
    const onHop = (hop: Hop) => {
      hops.push(hop);
      for (const listener of listeners) listener(hop);
    };
    const forget = () => flights[key] === flight && delete flights[key];
    const expansion = unshorten(target, { ...options, clients, signal: stop.signal, onHop });
    // Before its waiters learn of its end.
    expansion.then(forget, forget);
    const abandon = () => {
      if (forget()) stop.abort();
    };
    const flight = { expansion, hops, listeners, clients, abandon };
    flights[key] = flight;
    return flight;
  };

  return async function expandOnce(target, options) {
    const key = cacheKey(target, options);
    const other = flights[key];
    if (!other) return wait(start(key, target, options), options);
    if (other.listeners.size >= maxWaiting) throw overloaded('Too many requests are waiting for this URL');
    const { client, signal } = options;
    const [first] = other.clients;
    if (client !== undefined) other.clients.add(client);
    try {
      return await wait(other, options);
    } catch (error) {
      // The first client has used up its rate, which says nothing about this one.
      const isOthers = error instanceof ExpansionError && error.facts.rate && client !== first;
      if (isOthers && !signal?.aborted) return expandOnce(target, options);
      throw error;
    }
  };
}

/** The expansion of `flight`, unless the request leaves before. If `onHop` throws, this request alone gets the error. */
async function wait(
  { expansion, hops, listeners, abandon }: Flight,
  { signal, onHop }: Parameters<Unshorten>[1],
): Promise<Expansion> {
  const { promise, resolve, reject } = Promise.withResolvers<Expansion>();
  const leave = () => reject(aborted(signal?.reason));
  const listener = (hop: Hop) => {
    try {
      onHop?.(hop);
    } catch (error) {
      reject(error);
    }
  };
  expansion.then(resolve, reject);
  listeners.add(listener);
  hops.forEach(listener);
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', leave);
    listeners.delete(listener);
    if (listeners.size === 0) abandon();
  }
}
