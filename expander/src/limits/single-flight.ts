import { chainTime } from '../expansion/deadline.ts';
import { aborted, overloaded } from '../expansion/errors.ts';
import {
  cacheKey,
  type ExpandOptions,
  type Expansion,
  type FollowRedirects,
  type Hop,
  type TurnQueue,
} from '../expansion/expansion.ts';
import type { Target } from '../expansion/target.ts';
import { createCounts, turnOf } from '../expansion/turn.ts';

/** Requests of one client that wait for one expansion; each holds a connection and some memory. */
const maxWaiting = 256;

/** Milliseconds that a single request waits for a place. All its waits count toward the time of a chain. */
const maxWait = 3_000;

/** A waiting request. */
interface Listener {
  onHop(hop: Hop): void;
  /** Called when a hop begins to wait for its place, and when it stops. */
  onWait(waits: boolean): void;
}

/** An expansion in flight, and the requests that wait for it. */
interface Flight {
  expansion: Promise<Expansion>;
  hops: Hop[];
  listeners: Set<Listener>;
  /** Counts the requests in each turn. */
  turns: ReturnType<typeof createCounts>;
  /** The queue in which a hop waits. */
  queue?: TurnQueue | undefined;
  /** The client that started the expansion. */
  client: string | undefined;
  abandon(): unknown;
}

/**
 * One expansion at a time for each URL and mode: requests that arrive during it share it, hop by hop. A request whose
 * signal is aborted leaves at once; the last one to leave stops the expansion.
 */
export function singleFlight(followRedirects: FollowRedirects): FollowRedirects {
  // Not a Map: its outgrown tables point to the newer ones, and V8's scavenger keeps finished flights alive through them.
  const flights: Record<string, Flight> = Object.create(null);

  const start = (key: string, target: Target, options: ExpandOptions) => {
    const stop = new AbortController();
    const forget = () => flights[key] === flight && delete flights[key];
    const [hops, listeners, turns] = [[] as Hop[], new Set<Listener>(), createCounts()];
    const abandon = () => forget() && stop.abort();
    const flight = { hops, listeners, turns, client: options.client, abandon } as Flight;
    turns.add(turnOf(options.client, options.list), 1);
    flights[key] = flight;
    flight.expansion = followRedirects(target, {
      ...options,
      turns,
      signal: stop.signal,
      onHop(hop) {
        hops.push(hop);
        for (const { onHop } of listeners) onHop(hop);
      },
      onWait(queue) {
        flight.queue = queue;
        for (const { onWait } of listeners) onWait(queue !== undefined);
      },
    });
    // Forget the flight before its listeners learn of the end.
    flight.expansion.then(forget, forget);
    return flight;
  };

  return async function expandOnce(target, options): Promise<Expansion> {
    const key = cacheKey(target, options);
    const other = flights[key];
    if (!other) return wait(start(key, target, options), options);
    const { client, list } = options;
    const turn = turnOf(client, list);
    if (other.turns.count(turn) >= maxWaiting) throw overloaded('Too many requests are waiting for this URL');
    if (other.turns.add(turn, 1) === 1) other.queue?.join(turn);
    const expansion = await wait(other, options);
    // The rate of another client says nothing about this one.
    return expansion.error?.rate && client !== other.client ? expandOnce(target, options) : expansion;
  };
}

/** The expansion of `flight`, unless the request leaves before. If `onHop` throws, this request alone gets the error. */
async function wait(flight: Flight, { signal, onHop, client, list }: ExpandOptions): Promise<Expansion> {
  const { expansion, hops, listeners, turns, abandon } = flight;
  const { promise, resolve, reject } = Promise.withResolvers<Expansion>();
  const leave = () => reject(aborted(signal?.reason));
  const end = performance.now() + chainTime;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => reject(overloaded('Too many requests are waiting for the same website'));
  const listener: Listener = {
    onHop(hop) {
      try {
        onHop?.(hop);
      } catch (error) {
        reject(error);
      }
    },
    // After a wait, the error does not blame the website. Lists have time.
    onWait(waits) {
      if (list !== undefined) return;
      clearTimeout(timer);
      timer = setTimeout(giveUp, Math.min(waits ? maxWait : chainTime, end - performance.now()));
    },
  };
  expansion.then(resolve, reject);
  listeners.add(listener);
  hops.forEach(listener.onHop);
  if (flight.queue) listener.onWait(true);
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
    listeners.delete(listener);
    const turn = turnOf(client, list);
    if (turns.add(turn, -1) === 0) flight.queue?.leave(turn);
    if (listeners.size === 0) abandon();
  }
}
