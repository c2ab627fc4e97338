import { type Counts, createCounts } from '../expansion/expansion.ts';
import {
  clientCounter,
  createQueueGroups,
  type HopQueue,
  newQueue,
  queueKey,
  type Slot,
  type StartHop,
} from './hop-queue.ts';

/** Limits on hops in flight. */
const slotLimits = {
  /** Each hop needs a socket and memory. */
  inAll: 1_024,
  /** Protects websites from floods and other clients from a hung website. */
  atOrigin: 64,
  /** Eight clients can occupy all slots. */
  ofClient: 128,
  ofClientAtOrigin: 56,
  /** For all lists of a client. The client's single requests use the remaining slots. */
  ofListsAtOrigin: 48,
};

/** Limits on waiting hops of single requests. Lists limit their lines in progress. */
const waitingLimits = {
  waiting: 4_096,
  waitingOfClient: 256,
};

type SlotLimit = keyof typeof slotLimits;
const slotLimitNames = Object.keys(slotLimits) as SlotLimit[];
type Limit = SlotLimit | keyof typeof waitingLimits;

/** Counts the waiting hops of single requests. */
function countWaiting(counts: Counts, max: typeof waitingLimits) {
  const nameOf = (client: string) => `waiting of ${client}`;
  return {
    /** Whether another hop of this queue may wait. */
    mayGrow: ({ slot: { client, isList } }: HopQueue) =>
      isList || (counts.count('waiting') < max.waiting && counts.count(nameOf(client)) < max.waitingOfClient),
    add({ slot: { client, isList } }: HopQueue, change: 1 | -1) {
      if (isList) return;
      counts.add('waiting', change);
      counts.add(nameOf(client), change);
    },
  };
}

/**
 * Assigns connection slots to hops. A freed slot goes to the client with the fewest slots at that origin. If all
 * slots were taken, it goes to the client with the fewest slots in total. Clients take turns on a tie. A client's single requests have
 * priority over its lists, and its lists take turns.
 */
export function createSlots(limits: Partial<Record<Limit, number>> = {}, counts = createCounts()) {
  const max = { ...slotLimits, ...waitingLimits, ...limits };
  const waiting = countWaiting(counts, max);
  // Non-empty queues, least recently served first.
  const byOrigin = createQueueGroups();
  const singlesByClient = createQueueGroups();
  const listsByClient = createQueueGroups();
  const sameClient = ({ isList }: Slot) => (isList ? listsByClient : singlesByClient);

  const isFull = ({ counters }: Slot, limit: SlotLimit) => {
    const name = counters[limit];
    return name !== undefined && counts.count(name) >= max[limit];
  };
  const hasRoom = ({ slot }: HopQueue) => !slotLimitNames.some((limit) => isFull(slot, limit));
  const count = ({ counters }: Slot, change: 1 | -1) => {
    for (const name of Object.values(counters)) counts.add(name, change);
  };
  const take = ({ slot }: HopQueue): Slot => {
    count(slot, 1);
    return slot;
  };

  const enter = (queue: HopQueue) => {
    byOrigin.add(queue.slot.origin, queue);
    sameClient(queue.slot).add(queue.slot.client, queue);
  };
  const remove = (queue: HopQueue) => {
    byOrigin.remove(queue.slot.origin, queue);
    sameClient(queue.slot).remove(queue.slot.client, queue);
  };
  const find = (requester: string, origin: string) => byOrigin.find(origin, queueKey(requester, origin));

  const heldByClient = (client: string) => counts.count(clientCounter(client));
  const heldAtOrigin = ({ slot }: HopQueue) => counts.count(slot.counters.ofClientAtOrigin);
  const nextIn = (queues: Iterable<HopQueue>) => fewest(queues, heldAtOrigin, hasRoom);
  const nextOf = (client: string) =>
    nextIn(singlesByClient.queues(client)) ?? nextIn(listsByClient.queues(client));
  const nextOfAll = () => {
    const clients = [singlesByClient, listsByClient].values().flatMap((groups) => groups.names());
    const mayStart = (client: string) => heldByClient(client) < max.ofClient && nextOf(client) !== undefined;
    const client = fewest(clients, heldByClient, mayStart);
    return client === undefined ? undefined : nextOf(client);
  };
  /** Starts a hop of `next`. Single requests of the same client at that origin take precedence. */
  const start = (next: HopQueue | undefined) => {
    if (!next) return;
    const queue = find(next.slot.client, next.slot.origin) ?? next;
    const [startHop] = queue.hops;
    // Move the queue behind the others.
    remove(queue);
    enter(queue);
    startHop?.(take(queue));
  };

  return {
    /** Takes a slot for the first requester below its limits. @returns undefined if all requesters are at a limit. */
    take(requesters: Iterable<string>, origin: string): Slot | undefined {
      for (const requester of requesters) {
        const queue = newQueue(requester, origin);
        if (hasRoom(queue)) return take(queue);
      }
      return undefined;
    },
    /**
     * Starts or queues a hop. Hops of started chains go to the front of the queue.
     *
     * @returns false if too many hops are waiting.
     */
    join(requester: string, origin: string, startHop: StartHop, hasBegun = false): boolean {
      const queue = find(requester, origin) ?? newQueue(requester, origin);
      if (hasRoom(queue)) {
        startHop(take(queue));
        return true;
      }
      if (!waiting.mayGrow(queue)) return false;
      waiting.add(queue, 1);
      queue.hops = hasBegun ? new Set([startHop, ...queue.hops]) : queue.hops.add(startHop);
      enter(queue);
      return true;
    },
    /** Removes a waiting hop from its queue. */
    leave(requester: string, origin: string, startHop: StartHop) {
      const queue = find(requester, origin);
      if (!queue?.hops.delete(startHop)) return;
      waiting.add(queue, -1);
      if (queue.hops.size === 0) remove(queue);
    },
    isEmpty: () => [byOrigin, singlesByClient, listsByClient].every((groups) => groups.isEmpty()),
    /** Releases a slot and starts a waiting hop. Only hops that waited for a limit of this slot may start now. */
    release(slot: Slot) {
      const allFull = isFull(slot, 'inAll');
      const originFull = isFull(slot, 'atOrigin');
      const clientFull = isFull(slot, 'ofClient');
      count(slot, -1);
      // Every client may have waited for this slot.
      if (allFull) return start(nextOfAll());
      // Other clients waited for the origin. If neither was full, this client waited for its own share of the origin.
      if (originFull || !clientFull) start(nextIn(byOrigin.queues(slot.origin)));
      // This client waited with its hops at all origins.
      if (clientFull) start(nextOf(slot.client));
    },
  };
}

/**
 * Returns the candidate with the fewest slots among the candidates that may start. Stops early at a candidate without
 * slots.
 */
function fewest<Candidate>(
  candidates: Iterable<Candidate>,
  held: (candidate: Candidate) => number,
  mayStart: (candidate: Candidate) => boolean,
): Candidate | undefined {
  let best: Candidate | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const slots = held(candidate);
    if (slots >= least || !mayStart(candidate)) continue;
    best = candidate;
    least = slots;
    if (least === 0) break;
  }
  return best;
}
