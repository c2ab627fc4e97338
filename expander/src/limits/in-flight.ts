import { sharing } from '@longhand/shared/spans.ts';
import { cacheKey } from '../cache/caches.ts';
import { aborted, ExpansionError, overloaded } from '../expansion/errors.ts';
import type { Answer, ExpandUrl, Expansion, FetchHop, Hop } from '../expansion/expansion.ts';
import { withoutFragment } from '../expansion/target.ts';

/** Expansions in flight. */
const maxInFlight = 1_024;
/** Expansions that one client waits for: its lists (96), and pages and scripts beside them. */
const maxPerClient = 256;
/** Hops in flight at one origin: a host that hangs uses up its own share and nobody else's. */
const maxPerOrigin = 64;

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

/** One expansion at a time for each URL and mode: requests that arrive meanwhile share it, hop by hop. */
export function singleFlight(expandUrl: ExpandUrl): ExpandUrl {
  const join = createFlights<Expansion, Hop>();
  return (target, options) =>
    join(cacheKey(target, options), { signal: options.signal, watch: options.onHop }, (signal, onHop) =>
      expandUrl(target, { ...options, signal, onHop }),
    );
}

/**
 * One request at a time for each hop, shared by the chains that meet there; each waits no longer than its own deadline.
 * Requests that join an in-flight hop also count toward the per-origin limit.
 */
export function shareHops(fetchHop: FetchHop): FetchHop {
  const atOrigin = createLimit(maxPerOrigin, (origin) => `Too many expansions are waiting for ${origin}`);
  const join = createFlights<Answer>();
  return (url, options) =>
    atOrigin(url.origin, () => {
      const { follow, cookie, signal } = options;
      if (cookie) return fetchHop(url, options);
      return join(`${follow} ${withoutFragment(url)}`, { signal }, (signal) =>
        fetchHop(url, { follow, signal }),
      );
    });
}

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

interface Flight<Result, Event> {
  /** Past events, for waiters that join later. */
  events: Event[];
  seats: Set<Seat<Result, Event>>;
  abandon: AbortController;
}

/** Where one waiter learns what becomes of the flight. */
interface Seat<Result, Event> {
  tell(event: Event): void;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface Waiter<Event> {
  /** Aborted, the waiter leaves at once; the last one to leave stops the work. */
  signal?: AbortSignal | undefined;
  /** Called with each event. If it throws, this waiter alone gets the error. */
  watch?: ((event: Event) => void) | undefined;
}

type Work<Result, Event> = (signal: AbortSignal, emit: (event: Event) => void) => Promise<Result>;

/** Joins the work in flight for `key`, or starts it. */
export type Join<Result, Event> = (
  key: string,
  waiter: Waiter<Event>,
  work: Work<Result, Event>,
) => Promise<Result>;

/** Waiters of one flight; each holds a connection and some memory. */
const maxWaiting = 1_024;

/** Single flight: the same work runs once at a time, however many wait for it. */
export function createFlights<Result, Event = never>(): Join<Result, Event> {
  // No Map: in V8 each table that a Map has outgrown points to the next one, by which the collector of young objects
  // keeps flights that have ended, with their hops and signals, until the next full collection.
  const flights: Record<string, Flight<Result, Event>> = Object.create(null);
  const forget = (key: string, flight: Flight<Result, Event>) => {
    if (flights[key] === flight) delete flights[key];
  };

  // Each hop of each chain comes by here, so a waiter costs one promise, and the work another.
  const wait = (key: string, flight: Flight<Result, Event>, { signal, watch }: Waiter<Event>) =>
    new Promise<Result>((resolve, reject) => {
      const { seats, abandon, events } = flight;
      const leave = (reason: unknown) => {
        if (!seats.delete(seat)) return;
        seat.reject(reason);
        const timedOut = reason instanceof ExpansionError && reason.code === 'timeout';
        // After a timeout the work may never end: its other waiters stay, the next request starts it again.
        if (seats.size > 0 && !timedOut) return;
        forget(key, flight);
        if (seats.size === 0) abandon.abort();
      };
      const abort = () => leave(aborted(signal?.reason));
      const seat: Seat<Result, Event> = {
        tell(event) {
          try {
            if (seats.has(seat)) watch?.(event);
          } catch (error) {
            leave(error);
          }
        },
        resolve(result) {
          signal?.removeEventListener('abort', abort);
          resolve(result);
        },
        reject(error) {
          signal?.removeEventListener('abort', abort);
          reject(error);
        },
      };
      seats.add(seat);
      events.forEach(seat.tell);
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort);
    });

  const fly = async (key: string, flight: Flight<Result, Event>, work: Work<Result, Event>) => {
    const { seats, events, abandon } = flight;
    const emit = (event: Event) => {
      events.push(event);
      for (const { tell } of seats) tell(event);
    };
    try {
      const result = await work(abandon.signal, emit);
      forget(key, flight);
      for (const { resolve } of seats) resolve(result);
    } catch (error) {
      forget(key, flight);
      for (const { reject } of seats) reject(error);
    }
  };

  return (key, waiter, work) => {
    const other = flights[key];
    if (other && other.seats.size >= maxWaiting) {
      return Promise.reject(overloaded('Too many requests are waiting for this URL'));
    }
    if (other) return sharing("another request's expansion", wait(key, other, waiter));
    const flight = { events: [], seats: new Set<Seat<Result, Event>>(), abandon: new AbortController() };
    flights[key] = flight;
    const result = wait(key, flight, waiter);
    fly(key, flight, work);
    return result;
  };
}
