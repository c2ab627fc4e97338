import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Expand } from '../expansion/expand.ts';
import type { Follow } from '../expansion/expansion.ts';
import { type BulkLine, expandLine } from './expand-line.ts';
import type { NumberedUrl } from './url-list.ts';

/**
 * Expansions of one list at a time: fewer than the 64 that may wait for one origin, so that a list of links of one
 * shortener leaves room for single requests.
 */
const maxInFlight = 48;

export interface BulkOptions {
  follow: Follow;
  /** Aborted, the expansions in progress stop and no other starts. */
  signal?: AbortSignal;
  onFault: (fault: unknown) => void;
}

/**
 * Expands many URLs, 48 at a time, and yields each as it is done. A line that fails does not affect the others; after a
 * fault of ours `onFault` gets the error.
 */
export async function* expandMany(
  trace: Expand['trace'],
  urls: readonly NumberedUrl[],
  { follow, signal, onFault }: BulkOptions,
): AsyncGenerator<BulkLine, void, void> {
  const waiting = urls.values();
  const inFlight = new Map<number, Promise<BulkLine>>();
  const start = () => {
    const next = waiting.next();
    if (next.done || signal?.aborted) return;
    const expandUrl = (url: string) => trace(url, { follow, signal });
    inFlight.set(next.value[0], expandLine(next.value, expandUrl, onFault));
  };
  for (let i = 0; i < maxInFlight; i += 1) start();
  for (let lines = 1; inFlight.size > 0; lines += 1) {
    const done = await Promise.race(inFlight.values());
    inFlight.delete(done.line);
    start();
    yield done;
    // Cached lines wait for nothing: without a pause, thousands of them block every other request.
    if (lines % maxInFlight === 0) await nextTurn();
  }
}
