/**
 * Waits until the caller may use the event loop for a few milliseconds.
 *
 * @param clients the clients that wait for this work. The work starts when the first of these clients gets its turn.
 * @param signal if aborted, removes the work from the queues. The promise rejects with the abort reason.
 */
export type Turns = (clients: Iterable<string>, signal?: AbortSignal) => Promise<void>;

export const noTurns: Turns = async () => {};

/** Creates queues that start one piece of work per turn of the event loop. Clients alternate, however long their queues are. */
export function createTurns(): Turns {
  /** A queue for each client, starting with the next client. */
  const waiting = new Map<string, Set<() => void>>();
  let isRunning = false;
  const run = () => {
    const [next] = waiting;
    isRunning = next !== undefined;
    if (!next) return;
    const [client, pieces] = next;
    waiting.delete(client);
    waiting.set(client, pieces);
    const [begin] = pieces;
    begin?.();
    setImmediate(run);
  };
  return async (given, signal) => {
    signal?.throwIfAborted();
    const clients = [...given];
    if (clients.length === 0) clients.push('');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    for (const client of clients) waiting.set(client, (waiting.get(client) ?? new Set()).add(resolve));
    if (!isRunning) setImmediate(run);
    isRunning = true;
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      for (const client of clients) {
        const pieces = waiting.get(client);
        if (pieces?.delete(resolve) && pieces.size === 0) waiting.delete(client);
      }
    }
  };
}
