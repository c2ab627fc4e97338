import { createCounts } from '../expansion/counts.ts';

const defaults = {
  /** Hops in flight: each has a socket and memory. */
  inAll: 1_024,
  /** More would be a flood; and a host that hangs holds no more. */
  atOrigin: 64,
  /** Eight clients together take all. */
  ofClient: 128,
  /** Others have the rest. */
  ofClientAtOrigin: 56,
  /** The client's single requests have the rest. */
  ofListsAtOrigin: 48,
  /** Hops that wait in turns of single requests. Those of lists are bounded by their lines in progress. */
  waiting: 4_096,
  waitingOfClient: 256,
};

/** The turn of a client's single requests, or of one of its lists. */
export const turnOf = (client = '', list?: number) => (list === undefined ? client : `${client}#${list}`);

/** What one turn has at one origin: places, and hops that wait, to be called with theirs. */
export interface Queue {
  key: string;
  client: string;
  isList: boolean;
  origin: string;
  /** What a place counts for: all, the origin, the client, the client there, its lists there. */
  shares: string[];
  hops: Set<(place: Queue) => void>;
}

/**
 * Places for hops at websites. A free one goes to the client with the fewest there or, if all are taken, with the fewest in
 * all. On a tie clients take turns. A client's single requests come before its lists, which take turns.
 */
export function createPlaces(limits: Partial<typeof defaults> = {}, counts = createCounts()) {
  const max = { ...defaults, ...limits };
  const sizes = [max.inAll, max.atOrigin, max.ofClient, max.ofClientAtOrigin, max.ofListsAtOrigin];
  const queues = new Map<string, Queue>();
  /** Queues in which hops wait. The one that was served longest ago comes first. */
  const [atOrigin, singlesOf, listsOf] = [createIndex(), createIndex(), createIndex()];

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
    const [all = 0, ofClient = 0] = waits(queue).map(counts.count);
    return all < max.waiting && ofClient < max.waitingOfClient;
  };
  const enter = (queue: Queue) => {
    queues.set(queue.key, queue);
    atOrigin.add(queue.origin, queue);
    (queue.isList ? listsOf : singlesOf).add(queue.client, queue);
  };
  const remove = (queue: Queue) => {
    queues.delete(queue.key);
    atOrigin.delete(queue.origin, queue);
    (queue.isList ? listsOf : singlesOf).delete(queue.client, queue);
  };

  const heldThere = ({ shares }: Queue) => counts.count(shares[3] as string);
  const nextAt = (origin: string) => fewest(atOrigin.get(origin), heldThere, hasRoom);
  const nextOf = (client: string) =>
    fewest(singlesOf.get(client), heldThere, hasRoom) ?? fewest(listsOf.get(client), heldThere, hasRoom);
  const nextOfAll = () => {
    const clients = new Set([...singlesOf.keys(), ...listsOf.keys()]);
    const held = (client: string) => counts.count(`of ${client}`);
    const client = fewest(clients, held, (client) => nextOf(client) !== undefined);
    return client === undefined ? undefined : nextOf(client);
  };
  const start = (next: Queue | undefined) => {
    if (!next) return;
    const queue = queues.get(keyOf(turnOf(next.client), next.origin)) ?? next;
    const [startHop] = queue.hops;
    remove(queue);
    enter(queue);
    startHop?.(take(queue));
  };

  return {
    /** A place in one of `turns`, if one of them may have it now. */
    take(turns: Iterable<string>, origin: string): Queue | undefined {
      for (const turn of turns) {
        const queue = newQueue(turn, origin);
        if (hasRoom(queue)) return take(queue);
      }
      return undefined;
    },
    /** Lets a hop wait in a turn, unless it starts at once, or too many wait. Those whose chain has begun come first. */
    join(
      turn: string,
      origin: string,
      startHop: (place: Queue) => void,
      hasBegun: boolean,
    ): Queue | undefined {
      const queue = queues.get(keyOf(turn, origin)) ?? newQueue(turn, origin);
      if (hasRoom(queue)) return void startHop(take(queue));
      if (!mayWait(queue)) return undefined;
      count(waits(queue), 1);
      queue.hops = hasBegun ? new Set([startHop, ...queue.hops]) : queue.hops.add(startHop);
      enter(queue);
      return queue;
    },
    leave(queue: Queue, startHop: (place: Queue) => void) {
      count(waits(queue), -1);
      queue.hops.delete(startHop);
      if (queue.hops.size === 0) remove(queue);
    },
    /** Gives a place back, and starts a hop that waited for it. */
    release({ client, origin, shares }: Queue) {
      const [allFull, originFull, clientFull] = shares.map(isFull);
      count(shares, -1);
      if (allFull) return start(nextOfAll());
      if (originFull || !clientFull) start(nextAt(origin));
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

function createIndex() {
  const sets = new Map<string, Set<Queue>>();
  return {
    keys: () => sets.keys(),
    get: (key: string) => sets.get(key) ?? [],
    add: (key: string, queue: Queue) => void sets.set(key, (sets.get(key) ?? new Set()).add(queue)),
    delete(key: string, queue: Queue) {
      const set = sets.get(key);
      if (set?.delete(queue) && set.size === 0) sets.delete(key);
    },
  };
}

/**
 * Of those that may start, the one with the fewest places, and of several the first. It ends the search if that has none: before
 * it are only some of the few with places, and of the few that another limit, which takes many places, holds up.
 */
function fewest<One>(ones: Iterable<One>, held: (one: One) => number, mayStart: (one: One) => boolean) {
  let best: One | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const one of ones) {
    if (held(one) >= least || !mayStart(one)) continue;
    [best, least] = [one, held(one)];
    if (least === 0) break;
  }
  return best;
}
