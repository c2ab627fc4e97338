import { chainTime } from '../expansion/chain.ts';
import { aborted, overloaded } from '../expansion/errors.ts';
import {
  cacheKey,
  createCounts,
  type ExpandOptions,
  type Expansion,
  type FollowRedirects,
  type Hop,
  type TurnQueue,
  turnOf,
} from '../expansion/expansion.ts';
import type { Target } from '../expansion/target.ts';

/** Maximum requests per client waiting for the same expansion. Each request needs a connection and memory. */
const maxWaiting = 256;

/** Maximum time that a single request waits for a slot (ms), within the chain timeout. */
const maxWait = 3_000;

type Listener = Pick<ExpandOptions, 'onHop' | 'onWait'>;

/** An expansion in flight, and the requests that wait for it. */
interface Flight {
  expansion: Promise<Expansion>;
  hops: Hop[];
  /** A listener for each waiting request. */
  listeners: Set<Listener>;
  /** The number of requests per turn. */
  turns: ReturnType<typeof createCounts>;
  /** Queue of the hop that is waiting for a slot. */
  queue?: TurnQueue | undefined;
  /** The client that started the expansion. */
  client: string | undefined;
  abandon(): unknown;
}

/**
 * A layer that shares an expansion in flight between requests for the same URL and mode. The expansion stops when all of
 * its requests are aborted.
 */
export function singleFlight(followRedirects: FollowRedirects): FollowRedirects {
  // Not a Map: V8's scavenger would keep finished flights alive through the old tables of a resized Map.
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
        for (const { onHop } of listeners) onHop?.(hop);
      },
      onWait(queue) {
        flight.queue = queue;
        for (const { onWait } of listeners) onWait?.(queue);
      },
    });
    // Forget the flight before the listeners receive the result.
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
    // The other client has reached its rate limit, but this client may be below the limit.
    return expansion.error?.rate && client !== other.client ? expandOnce(target, options) : expansion;
  };
}

/** Returns the flight's result. Rejects if the request is aborted, waits too long, or has an `onHop` that throws. */
async function wait(flight: Flight, { signal, onHop, client, list }: ExpandOptions): Promise<Expansion> {
  const { expansion, hops, listeners, turns, abandon } = flight;
  const { promise, resolve, reject } = Promise.withResolvers<Expansion>();
  const leave = () => reject(aborted(signal?.reason));
  const end = performance.now() + chainTime;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = () => reject(overloaded('Too many requests are waiting for the same website'));
  const listener = {
    onHop(hop: Hop) {
      try {
        onHop?.(hop);
      } catch (error) {
        reject(error);
      }
    },
    // Report `overloaded`, not `timeout`, because the website is not to blame. Lists wait indefinitely.
    onWait(queue?: TurnQueue) {
      if (list !== undefined) return;
      clearTimeout(timer);
      timer = setTimeout(giveUp, Math.min(queue ? maxWait : chainTime, end - performance.now()));
    },
  };
  expansion.then(resolve, reject);
  listeners.add(listener);
  hops.forEach(listener.onHop);
  if (flight.queue) listener.onWait(flight.queue);
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
