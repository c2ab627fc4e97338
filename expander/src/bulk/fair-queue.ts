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
  /** Lists in progress. If all wait for one origin, 8 s for each of its places, each client has a line within 24 s. */
  maxListsPerClient: 16,
  maxLists: 128,
};

interface List {
  client: string;
  /** What waits, by the origin that it contacts first. */
  waiting: Map<string, PromiseWithResolvers<void>[]>;
}

/**
 * A fair queue for lists of URLs: a free place goes to the client with the fewest expansions in flight, whose lists take
 * turns. A client or an origin that hangs uses up its own share only.
 *
 * @returns opens a list for a client. @throws ExpansionError `overloaded` when too many lists are in progress.
 */
export function createFairQueue(limits: Partial<typeof defaults> = {}) {
  const max = { ...defaults, ...limits };
  /** The list that was served longest ago comes first. */
  const lists = new Set<List>();
  /** By client, by origin, and in total, as `*`. */
  const inFlight = new Map<string, number>();

  const of = (key: string) => inFlight.get(key) ?? 0;
  const count = (change: 1 | -1, ...keys: string[]) => {
    for (const key of keys) {
      if (of(key) + change > 0) inFlight.set(key, of(key) + change);
      else inFlight.delete(key);
    }
  };
  /** The first origin of a list that may be contacted. */
  const nextOrigin = ({ client, waiting }: List) =>
    of(client) < max.maxPerClient
      ? waiting.keys().find((origin) => of(origin) < max.maxPerOrigin)
      : undefined;
  const startNext = () => {
    while (of('*') < max.maxInFlight) {
      const ready = [...lists].filter((list) => nextOrigin(list) !== undefined);
      const [list] = ready.sort((a, b) => of(a.client) - of(b.client));
      const origin = list && nextOrigin(list);
      if (!list || origin === undefined) return;
      count(1, list.client, origin, '*');
      lists.delete(list);
      lists.add(list);
      takeFirst(list, origin)?.resolve();
    }
  };

  return (client: string, signal?: AbortSignal) => {
    const others = [...lists].filter((list) => list.client === client);
    if (others.length >= max.maxListsPerClient || lists.size >= max.maxLists) {
      throw overloaded('Too many lists of URLs are in progress');
    }
    const list: List = { client, waiting: new Map() };
    lists.add(list);
    /** Ends the list and what waits in it; calling it twice does no harm. */
    const close = () => {
      lists.delete(list);
      const waiting = [...list.waiting.values()].flat();
      list.waiting.clear();
      for (const { reject } of waiting) reject(aborted(signal?.reason));
    };
    signal?.addEventListener('abort', close);

    /** Runs `work` when it has a place. @throws ExpansionError `aborted` if the list is closed before that. */
    const run = async <Result>(origin: string, work: () => Promise<Result>): Promise<Result> => {
      if (!lists.has(list)) throw aborted(signal?.reason);
      const place = Promise.withResolvers<void>();
      list.waiting.set(origin, [...(list.waiting.get(origin) ?? []), place]);
      startNext();
      await place.promise;
      try {
        return await work();
      } finally {
        count(-1, client, origin, '*');
        startNext();
      }
    };
    return { run, close };
  };
}

/** Takes the first of those that wait for `origin`; the list's other origins come before it then. */
function takeFirst({ waiting }: List, origin: string) {
  const [first, ...others] = waiting.get(origin) ?? [];
  waiting.delete(origin);
  if (others.length > 0) waiting.set(origin, others);
  return first;
}
