import type { Pause } from './pause.ts';
import { type BulkLine, type LineExpansion, processLine } from './process-line.ts';
import type { NumberedUrl } from './url-list.ts';

/**
 * Expansions of one list at a time: fewer than the 64 that may wait for one origin, so that a list of links of one
 * shortener leaves room for single requests.
 */
const maxInFlight = 48;

export interface BulkOptions {
  /** Aborted, no other expansion starts. */
  signal?: AbortSignal;
  onFault: (fault: unknown) => void;
  /** Cached lines wait for nothing: without a pause, thousands of them block every other request. */
  pause: Pause;
}

/**
 * Expands many URLs by `unshorten`, 48 at a time, and yields each as it is done. A line that fails does not affect the
 * others; `onFault` gets unexpected errors.
 */
export async function* processList(
  urls: readonly NumberedUrl[],
  unshorten: (url: string) => Promise<LineExpansion>,
  { signal, onFault, pause }: BulkOptions,
): AsyncGenerator<BulkLine, void, void> {
  const waiting = urls.values();
  const done: BulkLine[] = [];
  let inFlight = 0;
  let onDone = () => {};
  const startNext = () => {
    const next = waiting.next();
    if (next.done || signal?.aborted) return;
    inFlight += 1;
    processLine(next.value, unshorten, onFault).then((line) => {
      done.push(line);
      onDone();
    });
  };
  for (let i = 0; i < maxInFlight; i += 1) {
    startNext();
    await pause();
  }
  while (inFlight > 0) {
    const line = done.shift();
    if (!line) {
      await new Promise<void>((resolve) => (onDone = resolve));
      continue;
    }
    inFlight -= 1;
    startNext();
    yield line;
    await pause();
  }
}
