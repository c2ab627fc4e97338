/** Whom a hop in flight counts for. */
export interface Slot {
  client: string;
  /** Whether the hop belongs to a list of URLs. */
  isList: boolean;
  origin: string;
  counters: CounterNames;
}

/** Waiting hops of one client, or of one of its lists, at one origin. */
export interface HopQueue {
  /** The slot that each of these hops needs. */
  slot: Slot;
  /** The requester and origin. */
  key: string;
  hops: Set<StartHop>;
}

/** Names of the counters of hops in flight. The last one exists only for lists. */
export interface CounterNames {
  inAll: string;
  atOrigin: string;
  ofClient: string;
  ofClientAtOrigin: string;
  ofListsAtOrigin?: string;
}

/** Starts a hop in a slot that was taken for it. */
export type StartHop = (slot: Slot) => void;

export function newQueue(requester: string, origin: string): HopQueue {
  const [client = '', list] = requester.split('#');
  const isList = list !== undefined;
  const counters: CounterNames = {
    inAll: 'all',
    atOrigin: `at ${origin}`,
    ofClient: clientCounter(client),
    ofClientAtOrigin: `of ${client} at ${origin}`,
  };
  if (isList) counters.ofListsAtOrigin = `of lists of ${client} at ${origin}`;
  const slot = { client, isList, origin, counters };
  return { slot, key: queueKey(requester, origin), hops: new Set() };
}

export const clientCounter = (client: string) => `of ${client}`;

export const queueKey = (requester: string, origin: string) => `${requester} ${origin}`;

/** Groups queues by name. Each group starts with the queue that was added first. */
export function createQueueGroups() {
  const groups = new Map<string, Map<string, HopQueue>>();
  return {
    /** Adds a queue at the end of its group, unless the group has it. */
    add(name: string, queue: HopQueue) {
      const group = groups.get(name) ?? new Map();
      groups.set(name, group.set(queue.key, queue));
    },
    remove(name: string, queue: HopQueue) {
      const group = groups.get(name);
      group?.delete(queue.key);
      if (group?.size === 0) groups.delete(name);
    },
    find: (name: string, key: string) => groups.get(name)?.get(key),
    queues: (name: string) => groups.get(name)?.values() ?? [].values(),
    names: () => groups.keys(),
    isEmpty: () => groups.size === 0,
  };
}
