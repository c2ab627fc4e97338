import { LRUCache } from 'lru-cache';
import type { Answer, Ask } from '../expansion/expansion.ts';
import { ExpansionError } from '../expansion/expansion-error.ts';

/** Statuses by which hosts turn down HEAD where GET would lead on. */
const turnedDown = new Set([400, 403, 404, 405, 500, 501]);

/** How many origins are remembered to want GET, and for how many milliseconds. */
const memory = { max: 10_000, ttl: 10 * 60 * 1_000 };

/** With `follow: 'all'`, asks by GET where HEAD is turned down or reset, and at once where that helped before. */
export function withGetFallback(ask: Ask): Ask {
  const wantGet = new LRUCache<string, true>(memory);
  const askEither: Ask = async (url, options) => {
    const get = () => ask(url, { ...options, method: 'GET' });
    if (wantGet.has(url.origin)) return get();
    const head = await ask(url, options).catch((error: unknown) => {
      if (isReset(error)) return null;
      throw error;
    });
    if (head && !turnedDown.has(head.status)) return head;
    const answer = await get();
    if (differs(answer, head)) wantGet.set(url.origin, true);
    return answer;
  };
  return (url, options) => (options.follow === 'all' ? askEither : ask)(url, options);
}

function isReset(error: unknown): boolean {
  const cause =
    error instanceof ExpansionError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === 'ECONNRESET' || cause?.code === 'EPIPE';
}

function differs(answer: Answer, head: Answer | null): boolean {
  return answer.status !== head?.status;
}
