import type { Gauge } from 'prom-client';
import { aborted, overloaded } from '../expansion/errors.ts';
import { createCounts, type FetchHop, type FetchHopOptions, turnOf } from '../expansion/expansion.ts';

const defaults = {
  /** Maximum hops in flight. Each hop needs a socket and memory. */
  inAll: 1_024,
  /** Maximum per origin. Protects websites from floods and other clients from a hung website. */
  atOrigin: 64,
  /** Maximum per client. Eight clients can occupy all slots. */
  ofClient: 128,
  /** Maximum hops per client at one origin. */
  ofClientAtOrigin: 56,
  /** Maximum number of hops to one origin for a client's lists. The client's single requests use the remaining slots. */
  ofListsAtOrigin: 48,
  /** Max waiting hops for single requests. Lists limit their lines in progress. */
  waiting: 4_096,
  waitingOfClient: 256,
};

const nobody = { names: () => [turnOf()].values() };

/**
 * A layer that delays each hop until its website has a free slot.
 *
 * @param waiting counts waiting hops.
 * @throws ExpansionError `overloaded` if too many hops are waiting, or the signal's reason if it is aborted.
 */
export function takeSlots(waiting?: Pick<Gauge, 'inc' | 'dec'>, slots = createSlots()) {
  const wait = (origin: string, { turns = nobody, chain, signal, onWait }: FetchHopOptions) => {
    const { promise, resolve, reject } = Promise.withResolvers<Queue>();
    const join = (turn: string) => slots.join(turn, origin, start, chain?.hasBegun);
    const leave = (turn: string) => slots.leave(turn, origin, start);
    const end = () => {
      for (const turn of turns.names()) leave(turn);
      signal?.removeEventListener('abort', stop);
      waiting?.dec();
      onWait?.();
    };
    const start = (slot: Queue) => {
      end();
      resolve(slot);
    };
    const stop = () => {
      end();
      reject(aborted(signal?.reason));
    };
    const joined = [...turns.names()].filter(join);
    if (joined.length === 0) throw overloaded('Too many requests from your address are waiting');
    waiting?.inc();
    onWait?.({ join, leave });
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    return promise;
  };

  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      const { turns = nobody } = options;
      const slot = slots.take(turns.names(), url.origin) ?? (await wait(url.origin, options));
      try {
        return await fetchHop(url, options);
      } finally {
        slots.release(slot);
      }
    };
}

type StartHop = (slot: Queue) => void;

/** Waiting hops of one client or list at one origin. A started hop keeps its queue, which `release` needs. */
export interface Queue {
  key: string;
  client: string;
  isList: boolean;
  origin: string;
  /** Names of a slot's counters: total, by origin, by client, by client and origin, and by the client's lists at the origin. */
  shares: string[];
  hops: Set<StartHop>;
}

type Index = Map<string, Map<string, Queue>>;

/**
 * Assigns connection slots to hops. A freed slot goes to the client with the fewest slots at that origin. If all
 * slots were taken, it goes to the client with the fewest slots in total. Clients take turns on a tie. A client's single requests have
 * priority over its lists, and its lists take turns.
 */
export function createSlots(limits: Partial<typeof defaults> = {}, counts = createCounts()) {
  const max = { ...defaults, ...limits };
  const sizes = [max.inAll, max.atOrigin, max.ofClient, max.ofClientAtOrigin, max.ofListsAtOrigin];
  /** Non-empty queues, least recently served first: by origin, by client (single requests) and by client (lists). */
  const [atOrigin, singlesOf, listsOf]: [Index, Index, Index] = [new Map(), new Map(), new Map()];

  const isFull = (share: string, i: number) => counts.count(share) >= (sizes[i] as number);
  const hasRoom = ({ shares }: Queue) => !shares.some(isFull);
  const count = (names: string[], change: 1 | -1) => {
    for (const name of names) counts.add(name, change);
  };
  const take = (queue: Queue) => {
    count(queue.shares, 1);
    return queue;
  };
  const waits = ({ client, isList }: Queue) => (isList ? [] : ['waiting', `waiting ${client}`]);
  const mayWait = (queue: Queue) => {
    const [all = 0, own = 0] = waits(queue).map(counts.count);
    return all < max.waiting && own < max.waitingOfClient;
  };
  const indexes = ({ origin, client, isList }: Queue) =>
    [
      [atOrigin, origin],
      [isList ? listsOf : singlesOf, client],
    ] as const;
  const enter = (queue: Queue) => {
    for (const [index, name] of indexes(queue)) {
      index.set(name, (index.get(name) ?? new Map()).set(queue.key, queue));
    }
  };
  const remove = (queue: Queue) => {
    for (const [index, name] of indexes(queue)) {
      index.get(name)?.delete(queue.key);
      if (index.get(name)?.size === 0) index.delete(name);
    }
  };

  const heldThere = ({ shares }: Queue) => counts.count(shares[3] as string);
  const nextIn = (queues?: Map<string, Queue>) => fewest(queues?.values() ?? [], heldThere, hasRoom);
  const nextOf = (client: string) => nextIn(singlesOf.get(client)) ?? nextIn(listsOf.get(client));
  const nextOfAll = () => {
    const clients = [singlesOf, listsOf].values().flatMap((index) => index.keys());
    const held = (client: string) => counts.count(`of ${client}`);
    const mayStart = (client: string) => held(client) < max.ofClient && nextOf(client) !== undefined;
    return nextOf(fewest(clients, held, mayStart) ?? '');
  };
  const find = (turn: string, origin: string) => atOrigin.get(origin)?.get(keyOf(turn, origin));
  /** Starts a hop of `next`. Single requests of the same client at that origin take precedence. */
  const start = (next: Queue | undefined) => {
    if (!next) return;
    const queue = find(next.client, next.origin) ?? next;
    const [startHop] = queue.hops;
    remove(queue);
    enter(queue);
    startHop?.(take(queue));
  };

  return {
    /** Takes a slot for the first turn below its limits. @returns undefined if all turns are at a limit. */
    take(turns: Iterable<string>, origin: string): Queue | undefined {
      for (const turn of turns) {
        const queue = newQueue(turn, origin);
        if (hasRoom(queue)) return take(queue);
      }
      return undefined;
    },
    /**
     * Starts or queues a hop. Hops of started chains go to the front of the queue.
     *
     * @returns false if too many hops are waiting.
     */
    join(turn: string, origin: string, startHop: StartHop, hasBegun = false): boolean {
      const queue = find(turn, origin) ?? newQueue(turn, origin);
      if (hasRoom(queue)) startHop(take(queue));
      else if (!mayWait(queue)) return false;
      else {
        count(waits(queue), 1);
        queue.hops = hasBegun ? new Set([startHop, ...queue.hops]) : queue.hops.add(startHop);
        enter(queue);
      }
      return true;
    },
    /** Removes a waiting hop from its queue. */
    leave(turn: string, origin: string, startHop: StartHop) {
      const queue = find(turn, origin);
      if (!queue?.hops.delete(startHop)) return;
      count(waits(queue), -1);
      if (queue.hops.size === 0) remove(queue);
    },
    isEmpty: () => [atOrigin, singlesOf, listsOf].every(({ size }) => size === 0),
    /** Releases a slot and starts a waiting hop. */
    release({ client, origin, shares }: Queue) {
      const [allFull, originFull, clientFull] = shares.map(isFull);
      count(shares, -1);
      if (allFull) return start(nextOfAll());
      if (originFull || !clientFull) start(nextIn(atOrigin.get(origin)));
      if (clientFull) start(nextOf(client));
    },
  };
}

const keyOf = (turn: string, origin: string) => `${turn} ${origin}`;

function newQueue(turn: string, origin: string): Queue {
  const [client = '', list] = turn.split('#');
  const isList = list !== undefined;
  const there = `${client} at ${origin}`;
  const shares = ['all', origin, `of ${client}`, there, ...(isList ? [`lists of ${there}`] : [])];
  return { key: keyOf(turn, origin), client, isList, origin, shares, hops: new Set() };
}

/**
 * Returns the candidate with the fewest slots among the candidates that may start. Stops early at a candidate without
 * slots.
 */
function fewest<Candidate>(
  candidates: Iterable<Candidate>,
  held: (candidate: Candidate) => number,
  mayStart: (candidate: Candidate) => boolean,
) {
  let best: Candidate | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (held(candidate) >= least || !mayStart(candidate)) continue;
    [best, least] = [candidate, held(candidate)];
    if (least === 0) break;
  }
  return best;
}
