/**
 * Waits until the caller may use the event loop for a few milliseconds. Returns nothing if the caller may start at once.
 *
 * @param clients the clients that wait for this work. The work starts when the first of these clients gets its turn. Called only
 *   if the work has to wait.
 * @param signal if aborted, removes the work from the queues. The promise rejects with the abort reason.
 * @throws the abort reason if the signal is already aborted
 */
export type Turns = (clients: () => Iterable<string>, signal?: AbortSignal) => Promise<void> | undefined;

export const noTurns: Turns = () => undefined;

/**
 * Milliseconds of work per turn of the event loop. New requests, and responses of Redis and of websites, wait this long plus one
 * piece of work. A turn of the event loop costs as much as several small responses, so each runs as many pieces as fit.
 */
const maxTurn = 2;

/**
 * Creates queues that share the event loop between clients. A piece of work starts at once if nothing waits and this turn of the
 * event loop has time left. Other pieces wait, and clients alternate, however long their queues are.
 *
 * @param now the current time in milliseconds
 */
export function createTurns(now = () => performance.now()): Turns {
  /** A queue for each client, starting with the next client. */
  const waiting = new Map<string, Set<() => void>>();
  /** When work began in this turn of the event loop, if it has. */
  let begun: number | undefined;
  let isScheduled = false;

  /** Begins the next piece of work, and comes back after all microtasks of that piece. */
  const run = () => {
    const [next] = waiting;
    if (!next) {
      isScheduled = false;
      begun = undefined;
      return;
    }
    begun ??= now();
    if (now() - begun >= maxTurn) {
      begun = undefined;
      setImmediate(run);
      return;
    }
    const [client, pieces] = next;
    waiting.delete(client);
    waiting.set(client, pieces);
    const [begin] = pieces;
    begin?.();
    queueMicrotask(() => process.nextTick(run));
  };

  const runFirst = () => {
    begun = undefined;
    run();
  };

  const endTurn = () => {
    if (!isScheduled) begun = undefined;
  };

  const mayStartAtOnce = () => {
    if (waiting.size > 0) return false;
    if (begun !== undefined) return now() - begun < maxTurn;
    begun = now();
    // Runs before the event loop waits for I/O again. With a reference, it would keep the event loop from waiting once.
    setImmediate(endTurn).unref();
    return true;
  };

  const wait = async (clients: string[], signal?: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    for (const client of clients) waiting.set(client, (waiting.get(client) ?? new Set()).add(resolve));
    if (!isScheduled) {
      isScheduled = true;
      setImmediate(runFirst);
    }
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

  return (clients, signal) => {
    signal?.throwIfAborted();
    if (mayStartAtOnce()) return undefined;
    const names = [...clients()];
    return wait(names.length > 0 ? names : [''], signal);
  };
}
