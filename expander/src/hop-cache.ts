import { LRUCache } from 'lru-cache';
import type { Answer, Ask } from './expand.ts';
import { createFlights } from './flights.ts';

/** Characters of URLs and locations that are kept; answers of more than a 256th of it are not. */
const maxSize = 16 * 1024 * 1024;

/** Remembers single answers, so that two short URLs into one chain share its hops, also while they are asked. */
export function cachedHops(ask: Ask): Ask {
  const answers = new LRUCache<string, Answer>({
    maxSize,
    maxEntrySize: maxSize / 256,
    sizeCalculation: ({ location }, key) => key.length + (location?.length ?? 0) + 100,
  });
  const join = createFlights<Answer>();
  return (url, options) => {
    // The fragment is never sent.
    const key = `${options.follow} ${url.href.slice(0, url.href.length - url.hash.length)}`;
    const known = options.refresh ? undefined : answers.get(key);
    if (known && known.freshUntil > Date.now()) return Promise.resolve({ ...known, cached: true });
    return join(key, options, async (signal) => {
      const answer = await ask(url, { ...options, signal });
      answers.set(key, answer);
      return answer;
    });
  };
}
