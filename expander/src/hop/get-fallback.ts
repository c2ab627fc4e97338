import { LRUCache } from 'lru-cache';
import { ExpansionError } from '../expansion/errors.ts';
import type { Answer } from '../expansion/expansion.ts';

/** Requests one URL and returns the head of the response. */
export type RequestHead = (url: URL, method: 'HEAD' | 'GET', signal?: AbortSignal) => Promise<Answer>;

/** Statuses with which hosts refuse HEAD where GET would be redirected. */
const refusals = new Set([400, 403, 404, 405, 500, 501]);

/** How many origins are remembered to need GET, and for how many milliseconds. */
const memory = { max: 10_000, ttl: 10 * 60 * 1_000 };

/** Requests by GET where HEAD is refused or reset, and at once where that helped before. */
export function withGetFallback(request: RequestHead) {
  const needGet = new LRUCache<string, true>(memory);
  return async (url: URL, signal?: AbortSignal): Promise<Answer> => {
    if (needGet.has(url.origin)) return request(url, 'GET', signal);
    const head = await request(url, 'HEAD', signal).catch((error: unknown) => {
      if (isReset(error)) return null;
      throw error;
    });
    if (head && !refusals.has(head.status)) return head;
    const answer = await request(url, 'GET', signal);
    if (answer.status !== head?.status) needGet.set(url.origin, true);
    return answer;
  };
}

function isReset(error: unknown): boolean {
  const cause = error instanceof ExpansionError ? error.cause : undefined;
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE';
}
