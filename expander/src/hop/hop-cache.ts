import { LRUCache } from 'lru-cache';
import type { Answer, Ask } from '../expansion/expansion.ts';
import { withoutFragment } from '../expansion/target.ts';
import { createFlights } from '../limits/flights.ts';

/** Answers that are kept for each way to follow, and characters of the longest one with its URL: 20 MiB together. */
const max = 5_000;
const maxLength = 2_048;

/** Remembers single answers, so that two short URLs into one chain share its hops. */
export function cachedHops(ask: Ask): Ask {
  const memories = {
    default: new LRUCache<string, Answer>({ max }),
    all: new LRUCache<string, Answer>({ max }),
  };
  return async (url, options) => {
    const memory = memories[options.follow];
    const key = withoutFragment(url);
    const known = options.refresh ? undefined : memory.get(key);
    if (known && known.freshUntil > Date.now()) return { ...known, cached: true };
    const answer = await ask(url, options);
    if (key.length + (answer.location?.length ?? 0) <= maxLength) memory.set(key, answer);
    return answer;
  };
}

/** One request at a time for a hop: chains that meet there wait together, each no longer than it would alone. */
export function sharedHops(ask: Ask): Ask {
  const join = createFlights<Answer>();
  return (url, options) =>
    join(`${options.follow} ${withoutFragment(url)}`, { signal: options.signal }, (signal) =>
      ask(url, { ...options, signal }),
    );
}
