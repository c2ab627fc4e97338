import { timeUntil } from '@longhand/shared/durations.ts';
import { chainTime } from '../expansion/deadline.ts';
import { aborted, overloaded } from '../expansion/errors.ts';
import {
  cacheKey,
  createCounts,
  type ExpandOptions,
  type Expansion,
  type FollowRedirects,
  type Hop,
  requesterOf,
  type WaitingHop,
} from '../expansion/expansion.ts';

/** Maximum requests per client waiting for the same expansion. Each request needs a connection and memory. */
const maxWaiting = 256;

/** Maximum time that a single request waits for a slot (ms), within the chain timeout. */
const maxWait = 3_000;

/**
 * A layer that shares an expansion in flight between requests for the same URL and mode. The expansion stops when all of
 * its requests are aborted.
 */
export function singleFlight(followRedirects: FollowRedirects): FollowRedirects {
  // Not a Map: V8's scavenger would keep finished flights alive through the old tables of a resized Map.
  const flights: Record<string, Flight> = Object.create(null);

  return async function expandOnce(target, options): Promise<Expansion> {
    const key = cacheKey(target, options);
    const other = flights[key];
    if (other) {
      const expansion = await other.join(options);
      // The other client has reached its rate limit, but this client may be below the limit.
      const isOthersLimit = expansion.error?.rate && options.client !== other.client;
      return isOthersLimit ? expandOnce(target, options) : expansion;
    }
    const flight = new Flight(options.client, () => {
      if (flights[key] === flight) delete flights[key];
    });
    flights[key] = flight;
    return flight.start(options, (shared) => followRedirects(target, shared));
  };
}

type Listener = Required<Pick<ExpandOptions, 'onHop' | 'onWait'>>;

/** An expansion in flight, and the requests that wait for it. */
class Flight {
  /** The client that started the expansion. */
  readonly client: string | undefined;
  /** Removes the flight from the list, so that no request joins it. */
  readonly #forget: () => void;
  readonly #stop = new AbortController();
  readonly #hops: Hop[] = [];
  /** A listener for each waiting request. */
  readonly #listeners = new Set<Listener>();
  /** The number of waiting requests per requester. */
  readonly #requests = createCounts();
  /** The hop that is waiting for a slot. */
  #waitingHop: WaitingHop | undefined;
  #expansion!: Promise<Expansion>;
  #isRunning = true;

  constructor(client: string | undefined, forget: () => void) {
    this.client = client;
    this.#forget = forget;
  }

  /** Starts the expansion for its first request. */
  start(options: ExpandOptions, expand: (options: ExpandOptions) => Promise<Expansion>): Promise<Expansion> {
    this.#requests.add(requesterOf(options.client, options.list), 1);
    this.#expansion = expand({
      ...options,
      requesters: this.#requests,
      signal: this.#stop.signal,
      onHop: (hop) => {
        this.#hops.push(hop);
        for (const { onHop } of this.#listeners) onHop(hop);
      },
      onWait: (waiting) => {
        this.#waitingHop = waiting;
        for (const { onWait } of this.#listeners) onWait(waiting);
      },
    });
    // Forget the flight before the requests receive the result.
    const end = () => {
      this.#isRunning = false;
      this.#forget();
    };
    this.#expansion.then(end, end);
    return this.#wait(options);
  }

  /**
   * Adds a request to the flight.
   *
   * @throws ExpansionError `overloaded` if too many requests of the client wait.
   */
  async join(options: ExpandOptions): Promise<Expansion> {
    const requester = requesterOf(options.client, options.list);
    if (this.#requests.count(requester) >= maxWaiting)
      throw overloaded('Too many requests are waiting for this URL');
    const isFirstOfRequester = this.#requests.add(requester, 1) === 1;
    if (isFirstOfRequester) this.#waitingHop?.join(requester);
    return this.#wait(options);
  }

  /** Rejects if the request is aborted, waits too long, or has an `onHop` that throws. */
  async #wait(options: ExpandOptions): Promise<Expansion> {
    const { signal, onHop, client, list } = options;
    const { promise, resolve, reject } = Promise.withResolvers<Expansion>();
    const abort = () => reject(aborted(signal?.reason));
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
      // Report `overloaded`, not `timeout`, because the website is not to blame. Lists wait indefinitely.
      onWait(waiting) {
        if (list !== undefined) return;
        clearTimeout(timer);
        timer = setTimeout(giveUp, Math.min(waiting ? maxWait : chainTime, timeUntil(end)));
      },
    };
    this.#expansion.then(resolve, reject);
    this.#listeners.add(listener);
    this.#hops.forEach(listener.onHop);
    if (this.#waitingHop) listener.onWait(this.#waitingHop);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#leave(requesterOf(client, list), listener);
    }
  }

  /** Removes a request. The last one ends the flight. */
  #leave(requester: string, listener: Listener) {
    this.#listeners.delete(listener);
    const isLastOfRequester = this.#requests.add(requester, -1) === 0;
    if (isLastOfRequester) this.#waitingHop?.leave(requester);
    if (this.#listeners.size > 0 || !this.#isRunning) return;
    this.#forget();
    this.#stop.abort();
  }
}
