/** Waiting hops of one client, or of one of its lists, at one origin. */
export interface HopQueue {
  client: string;
  /** Whether the hops belong to a list of URLs. */
  isList: boolean;
  origin: string;
  /** The turn and origin. */
  key: string;
  hops: Set<StartHop>;
  counters: CounterNames;
}

/** Names of the counters of a queue's hops in flight. The last one exists only for lists. */
export interface CounterNames {
  inAll: string;
  atOrigin: string;
  ofClient: string;
  ofClientAtOrigin: string;
  ofListsAtOrigin?: string;
}

/** Starts a hop in a slot that was taken for its queue. */
export type StartHop = (queue: HopQueue) => void;

export function newQueue(turn: string, origin: string): HopQueue {
  const [client = '', list] = turn.split('#');
  const isList = list !== undefined;
  const counters: CounterNames = {
    inAll: 'all',
    atOrigin: `at ${origin}`,
    ofClient: clientCounter(client),
    ofClientAtOrigin: `of ${client} at ${origin}`,
  };
  if (isList) counters.ofListsAtOrigin = `of lists of ${client} at ${origin}`;
  return { client, isList, origin, key: queueKey(turn, origin), hops: new Set(), counters };
}

export const clientCounter = (client: string) => `of ${client}`;

export const queueKey = (turn: string, origin: string) => `${turn} ${origin}`;

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
