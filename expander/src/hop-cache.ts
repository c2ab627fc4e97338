import { LRUCache } from 'lru-cache';
import type { Answer, Ask } from './expansion.ts';
import { ExpansionError } from './expansion-error.ts';

/** Answers that are kept for each way to follow, and characters of the longest one with its URL: 20 MiB together. */
const max = 5_000;
const maxLength = 2_048;

/** Remembers single answers, so that two short URLs into one chain share its hops, also while they are asked. */
export function cachedHops(ask: Ask): Ask {
  const memory = () => ({
    answers: new LRUCache<string, Answer>({ max }),
    underWay: new Map<string, Promise<Answer>>(),
  });
  const memories = { default: memory(), all: memory() };

  return async (url, options) => {
    const { answers, underWay } = memories[options.follow];
    // The fragment is never sent.
    const key = url.href.slice(0, url.href.length - url.hash.length);
    const known = options.refresh ? undefined : answers.get(key);
    if (known && known.freshUntil > Date.now()) return { ...known, cached: true };
    const others = underWay.get(key);
    if (others) {
      const answer = await others.catch(unlessTheirs);
      if (answer) return answer;
    }
    const asked = ask(url, options);
    underWay.set(key, asked);
    try {
      const answer = await asked;
      if (key.length + (answer.location?.length ?? 0) <= maxLength) answers.set(key, answer);
      return answer;
    } finally {
      if (underWay.get(key) === asked) underWay.delete(key);
    }
  };
}

/** Whoever asked may have left, or run out of the time for the whole chain: that says nothing about the hop. */
function unlessTheirs(error: unknown): null {
  if (error instanceof ExpansionError && (error.code === 'aborted' || error.code === 'timeout')) return null;
  throw error;
}
