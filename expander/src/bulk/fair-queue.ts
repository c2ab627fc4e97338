import { aborted, overloaded } from '../expansion/errors.ts';

/**
 * Limits for the lists of all clients. In flight: twice as many for a client as for an origin, so that one origin that
 * hangs leaves a client half of its share; and as many in total as two clients may have.
 */
const defaults = {
  maxInFlight: 192,
  maxPerClient: 96,
  /** Fewer than the 64 hops in flight at one origin, so that lists leave room for single requests. */
  maxPerOrigin: 48,
  /** Lists in progress. */
  maxListsPerClient: 16,
  maxLists: 256,
};

/** The turns of one list. */
export interface ListTurns {
  /** Runs `work` when it is the turn of `origin`. @throws ExpansionError `aborted` when `signal` is aborted before that. */
  run<Result>(origin: string, signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result>;
  /** Ends the list; calling it twice does no harm. */
  close(): void;
}

interface Turn {
  client: string;
  list: ListTurns;
  origin: string;
  start: () => void;
}

/**
 * A fair queue for lists of URLs: each free place goes to the client with the fewest expansions in flight, and there to
 * the list with the fewest. An origin that hangs uses up its own share only.
 *
 * @returns opens a list for a client. It throws an ExpansionError `overloaded` when too many lists are in progress.
 */
export function createFairQueue(limits: Partial<typeof defaults> = {}): (client: string) => ListTurns {
  const max = { ...defaults, ...limits };
  const waiting = new Set<Turn>();
  const running = counts();
  const lists = counts();
  let inFlight = 0;

  const isEligible = ({ client, origin }: Turn) =>
    running.of(client) < max.maxPerClient && running.of(origin) < max.maxPerOrigin;
  const isBefore = (a: Turn, b: Turn) =>
    running.of(a.client) - running.of(b.client) || running.of(a.list) - running.of(b.list);
  const startNext = () => {
    while (inFlight < max.maxInFlight) {
      let next: Turn | undefined;
      for (const turn of waiting) {
        if (isEligible(turn) && (!next || isBefore(turn, next) < 0)) next = turn;
      }
      if (!next) return;
      waiting.delete(next);
      inFlight += 1;
      for (const key of [next.client, next.list, next.origin]) running.add(key, 1);
      next.start();
    }
  };
  const finish = ({ client, list, origin }: Turn) => {
    inFlight -= 1;
    for (const key of [client, list, origin]) running.add(key, -1);
    startNext();
  };

  return (client) => {
    if (lists.of(client) >= max.maxListsPerClient || lists.total() >= max.maxLists) {
      throw overloaded('Too many lists of URLs are in progress');
    }
    lists.add(client, 1);
    let open = true;
    const list: ListTurns = {
      async run(origin, signal, work) {
        const started = Promise.withResolvers<void>();
        const turn: Turn = {
          client: `client ${client}`,
          list,
          origin,
          start: started.resolve,
        };
        const leave = () => {
          if (waiting.delete(turn)) started.reject(aborted(signal?.reason));
        };
        waiting.add(turn);
        startNext();
        if (signal?.aborted) leave();
        let begun = started.promise;
        if (waiting.has(turn)) {
          signal?.addEventListener('abort', leave);
          begun = begun.finally(() => signal?.removeEventListener('abort', leave));
        }
        await begun;
        try {
          return await work();
        } finally {
          finish(turn);
        }
      },
      close() {
        if (open) lists.add(client, -1);
        open = false;
      },
    };
    return list;
  };
}

function counts() {
  const numbers = new Map<unknown, number>();
  return {
    of: (key: unknown) => numbers.get(key) ?? 0,
    total: () => numbers.values().reduce((sum, number) => sum + number, 0),
    add(key: unknown, change: number) {
      const number = (numbers.get(key) ?? 0) + change;
      if (number > 0) numbers.set(key, number);
      else numbers.delete(key);
    },
  };
}
