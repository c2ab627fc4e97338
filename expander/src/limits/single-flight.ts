import { sharing } from '@longhand/shared/spans.ts';
import { cacheKey } from '../cache/expansion-cache.ts';
import { aborted, ExpansionError, overloaded } from '../expansion/errors.ts';
import type { ExpandUrl, Expansion, Hop } from '../expansion/expansion.ts';

/** One expansion at a time for each URL and mode: requests that arrive meanwhile share it, hop by hop. */
export function singleFlight(expandUrl: ExpandUrl): ExpandUrl {
  const join = createFlights<Expansion, Hop>();
  return (target, options) =>
    join(cacheKey(target, options), { signal: options.signal, watch: options.onHop }, (signal, onHop) =>
      expandUrl(target, { ...options, signal, onHop }),
    );
}

interface Flight<Result, Event> {
  result: Promise<Result>;
  /** Past events, for waiters that join later. */
  events: Event[];
  /** Tell each waiter of an event. */
  waiters: Set<(event: Event) => void>;
  abandon: AbortController;
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
  const flights = new Map<string, Flight<Result, Event>>();

  return async (key, { signal, watch }, work) => {
    const other = flights.get(key);
    const flight = other ?? start(key, work);
    if (flight.waiters.size >= maxWaiting) throw overloaded('Too many requests are waiting for this URL');
    const left = Promise.withResolvers<never>();
    const leave = (reason: unknown) => {
      if (!flight.waiters.delete(tell)) return;
      left.reject(reason);
      const timedOut = reason instanceof ExpansionError && reason.code === 'timeout';
      // After a timeout the work may never end: its other waiters stay, the next request starts it again.
      if (flight.waiters.size > 0 && !timedOut) return;
      if (flights.get(key) === flight) flights.delete(key);
      if (flight.waiters.size === 0) flight.abandon.abort();
    };
    const tell = (event: Event) => {
      try {
        if (flight.waiters.has(tell)) watch?.(event);
      } catch (error) {
        leave(error);
      }
    };
    const abort = () => leave(aborted(signal?.reason));
    flight.waiters.add(tell);
    flight.events.forEach(tell);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const result = Promise.race([flight.result, left.promise]);
      return await (other ? sharing("another request's expansion", result) : result);
    } finally {
      signal?.removeEventListener('abort', abort);
      flight.waiters.delete(tell);
    }
  };

  function start(key: string, work: Work<Result, Event>): Flight<Result, Event> {
    const abandon = new AbortController();
    const events: Event[] = [];
    const waiters: Flight<Result, Event>['waiters'] = new Set();
    const emit = (event: Event) => {
      events.push(event);
      for (const tell of waiters) tell(event);
    };
    const result = Promise.resolve().then(() => work(abandon.signal, emit));
    const flight = { result, events, waiters, abandon };
    const settle = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    result.then(settle, settle);
    flights.set(key, flight);
    return flight;
  }
}
