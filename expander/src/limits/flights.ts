import { aborted, overloaded } from '../expansion/expansion-error.ts';

interface Flight<Result, Event> {
  landed: Promise<Result>;
  /** What was told so far, for those who join later. */
  events: Event[];
  watchers: Set<(event: Event) => void>;
  waiting: number;
  abandon: AbortController;
}

interface Passenger<Event> {
  /** Aborted, the passenger leaves at once; the last one to leave stops the work. */
  signal?: AbortSignal | undefined;
  watch?: ((event: Event) => void) | undefined;
}

/** Joins the work under way for `key`, or starts it. */
export type Join<Result, Event> = (
  key: string,
  passenger: Passenger<Event>,
  work: (signal: AbortSignal, tell: (event: Event) => void) => Promise<Result>,
) => Promise<Result>;

/** Those who wait for one and the same piece of work; each holds a connection and some memory. */
const maxWaiting = 1_024;

/** Single flight: the same work is done once at a time, however many ask for it. */
export function createFlights<Result, Event = never>(): Join<Result, Event> {
  const flights = new Map<string, Flight<Result, Event>>();

  return async (key, { signal, watch }, work) => {
    const flight = flights.get(key) ?? depart(key, work);
    if (flight.waiting >= maxWaiting) {
      throw overloaded('Too many are waiting for this URL');
    }
    const left = Promise.withResolvers<never>();
    const leave = () => {
      const reason = aborted(signal?.reason);
      left.reject(reason);
      flight.waiting -= 1;
      // What took too long for one may never end: those who wait go on, those who come next start anew.
      if (flight.waiting > 0 && reason.code !== 'timeout') return;
      if (flights.get(key) === flight) flights.delete(key);
      if (flight.waiting === 0) flight.abandon.abort();
    };
    flight.waiting += 1;
    if (watch) {
      flight.events.forEach(watch);
      flight.watchers.add(watch);
    }
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([flight.landed, left.promise]);
    } finally {
      signal?.removeEventListener('abort', leave);
      if (watch) flight.watchers.delete(watch);
    }
  };

  function depart(key: string, work: Parameters<Join<Result, Event>>[2]): Flight<Result, Event> {
    const flight: Flight<Result, Event> = {
      events: [],
      watchers: new Set(),
      waiting: 0,
      abandon: new AbortController(),
      landed: Promise.resolve().then(() =>
        work(flight.abandon.signal, (event) => {
          flight.events.push(event);
          for (const watch of flight.watchers) watch(event);
        }),
      ),
    };
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.landed.then(land, land);
    flights.set(key, flight);
    return flight;
  }
}
