/**
 * Waits for a turn of the event loop, for a piece of work that takes a few milliseconds. The caller does it right after.
 *
 * @param clients who want it done: it has its turn as soon as one of them has.
 * @param signal leaves the queue, and rejects with its reason.
 */
export type Turns = (clients: Iterable<string>, signal?: AbortSignal) => Promise<void>;

/** For work that blocks no other request. */
export const noTurns: Turns = async () => {};

/**
 * One piece of heavy work in each turn of the event loop, the clients one after another: however much one of them has
 * waiting, what others have to do comes between.
 */
export function createTurns(): Turns {
  /** The pieces of each client; the client whose turn is next comes first. */
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
  return (given, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const clients = [...given];
    const leave = () => {
      signal?.removeEventListener('abort', abort);
      for (const client of clients) {
        const pieces = waiting.get(client);
        if (pieces?.delete(begin) && pieces.size === 0) waiting.delete(client);
      }
    };
    const begin = () => {
      leave();
      resolve();
    };
    const abort = () => {
      leave();
      reject(signal?.reason);
    };
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    signal?.addEventListener('abort', abort);
    if (clients.length === 0) clients.push('');
    for (const client of clients) {
      const pieces = waiting.get(client) ?? new Set();
      waiting.set(client, pieces.add(begin));
    }
    if (!isRunning) setImmediate(run);
    isRunning = true;
    return promise;
  };
}
