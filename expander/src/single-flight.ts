import type { Expansion, Hop, Trace } from './expand.ts';

interface Flight {
  landed: Promise<Expansion>;
  hops: Hop[];
  watchers: Set<(hop: Hop) => void>;
}

/** One expansion at a time for a URL and mode: who asks while it is under way shares it. */
export function singleFlight(trace: Trace): Trace {
  const flights = new Map<string, Flight>();
  return (url, options) => {
    const key = `${options.follow}:${options.maxRedirect}:${url}`;
    const { onHop } = options;
    const flight = flights.get(key) ?? depart();
    if (onHop) {
      flight.hops.forEach(onHop);
      flight.watchers.add(onHop);
    }
    return flight.landed;

    function depart(): Flight {
      const hops: Hop[] = [];
      const watchers: Flight['watchers'] = new Set();
      const landed = trace(url, {
        ...options,
        signal: undefined,
        onHop(hop) {
          hops.push(hop);
          for (const watch of watchers) watch(hop);
        },
      }).finally(() => flights.delete(key));
      const flight = { landed, hops, watchers };
      flights.set(key, flight);
      return flight;
    }
  };
}
