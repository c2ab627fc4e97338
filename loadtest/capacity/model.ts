/** The kinds of requests that a mix consists of. */
export const kinds = ['hot', 'cold', 'list', 'writes'] as const;
export type Kind = (typeof kinds)[number];
/** Shares of a rate, which add up to 1. */
export type Mix = Record<Kind, number>;

/** The processes of a stack, each with the kinds of requests that reach it. */
const reached: Record<string, readonly Kind[]> = {
  proxy: kinds,
  expander: ['cold'],
  'expander-cache': ['cold'],
  tasks: ['list', 'writes'],
  'tasks-store': ['list', 'writes'],
};

/**
 * What a process spends CPU time on: a second of running, being woken up, a request of each kind, and a list after a
 * write, which has to be made again.
 */
export const causes = ['running', 'wakes', ...kinds, 'changedLists'] as const;
export type Cause = (typeof causes)[number];

/** Microseconds of CPU time of each cause, by process. */
export type Costs = Record<string, Record<Cause, number>>;

/** What `make capacity` writes and `make size` reads. */
export interface Capacity {
  taken: string;
  machine: Record<string, string>;
  objective: { p99: number; failed: number };
  mix: Mix;
  /** Requests per second that met the objective. */
  rate: number;
  conclusion: string;
  limits: Limit[];
  steps: unknown[];
  costs: Costs;
  /** Milliseconds until a request is answered, on average. */
  latency: Record<Kind, number>;
  /** Bytes of a process under load. */
  memory: Record<string, number>;
  /** Sockets of a process under load. */
  sockets: Record<string, number>;
}

/** A rate at which something is used up. */
export interface Limit {
  name: string;
  rate: number;
}

/** Named mixes: what people do with the whole stack, with links alone, with the list alone, and with half of the links cold. */
export const mixes: Record<string, Mix> = {
  all: { hot: 0.6, cold: 0.1, list: 0.25, writes: 0.05 },
  links: { hot: 0.9, cold: 0.1, list: 0, writes: 0 },
  tasks: { hot: 0, cold: 0, list: 0.9, writes: 0.1 },
  half: { hot: 0.4, cold: 0.4, list: 0.15, writes: 0.05 },
};

/**
 * A process wakes up at most so often a second: the more requests there are, the fewer find it asleep. With 50 to 200
 * costs fit best what was measured at two rates.
 */
const mostWakes = 100;

/**
 * How often each cause comes in a second of `rate` requests of `mix`, for all replicas of a process together.
 *
 * @param replicas by process; one where it is not named.
 */
export function causesIn(
  process: string,
  mix: Mix,
  rate: number,
  replicas: Record<string, number> = {},
): Record<Cause, number> {
  const perSecond = Object.fromEntries(kinds.map((kind) => [kind, rate * mix[kind]])) as Mix;
  const { list, writes } = perSecond;
  const running = replicas[process] ?? 1;
  const own = (reached[process] ?? []).reduce((sum, kind) => sum + perSecond[kind], 0);
  return {
    ...perSecond,
    running,
    wakes: (own * mostWakes) / (own / running + mostWakes),
    // Of lists and writes in any order, so many lists come after a write, in each replica.
    changedLists: list * writes === 0 ? 0 : (list * writes) / (list / (replicas.tasks ?? 1) + writes),
  };
}

/** Cores that all replicas of each process need for `rate` requests a second of `mix`. */
export function coresFor(
  costs: Costs,
  mix: Mix,
  rate: number,
  replicas: Record<string, number> = {},
): Record<string, number> {
  const needed = Object.entries(costs).map(([process, cost]) => {
    const often = causesIn(process, mix, rate, replicas);
    return [process, causes.reduce((sum, cause) => sum + often[cause] * cost[cause], 0) / 1e6];
  });
  return Object.fromEntries(needed);
}

/** A process that runs on one core at a time; nginx has a worker for each, up to four. */
const coresOf = (process: string, cores: number) => (process === 'proxy' ? Math.min(cores, 4) : 1);

/**
 * Where the next bottlenecks are, the lowest rate first: each process that fills its core, and the machine as a whole.
 *
 * @param used cores at `rate`, by process, with what else the load needed, such as k6.
 */
export function limitsOf(
  used: Record<string, number>,
  rate: number,
  stack: readonly string[],
  cores: number,
): Limit[] {
  const all = Object.values(used).reduce((sum, value) => sum + value, 0);
  return [
    ...stack.map((name) => ({ name, rate: (rate * coresOf(name, cores)) / (used[name] || Number.NaN) })),
    { name: `this machine's ${cores} cores`, rate: (rate * cores) / all },
  ]
    .filter(({ rate }) => Number.isFinite(rate))
    .sort((a, b) => a.rate - b.rate);
}

/** A process is busy enough at this share of its core: above it, requests queue. */
const utilization = 0.7;

/** What a part of the stack needs for a load. */
export interface Need {
  part: string;
  /** Replicas; for the proxy its workers. */
  count: number;
  cores: number;
  /** Bytes in all. */
  memory: number;
  /** Open sockets in all. */
  sockets: number;
  note: string;
}

const replicated = ['expander', 'tasks', 'proxy'];

/** What `rate` requests a second of `mix` need. */
export function sizeFor({ costs, latency, memory, sockets }: Capacity, mix: Mix, rate: number): Need[] {
  const inFlight = kinds.reduce((sum, kind) => sum + (rate * mix[kind] * latency[kind]) / 1_000, 0);
  return Object.keys(costs)
    .filter((part) => reached[part]?.some((kind) => mix[kind] > 0))
    .map((part) => {
      const wanted = replicasOf(costs, part, mix, rate);
      const count = replicated.includes(part) ? wanted : 1;
      // One nginx, however many workers it has.
      const processes = part === 'proxy' ? 1 : count;
      // There, clients and upstreams each hold a socket.
      const open = (sockets[part] ?? 0) * processes + (part === 'proxy' ? 2 * inFlight : 0);
      return {
        part,
        count,
        cores: coresFor(costs, mix, rate, { [part]: count })[part] ?? 0,
        memory: (memory[part] ?? 0) * processes,
        sockets: Math.ceil(open),
        note: wanted > count ? 'one Redis cannot: split the load among several stacks' : '',
      };
    });
}

/** How many replicas it takes until none is too busy. */
function replicasOf(costs: Costs, part: string, mix: Mix, rate: number): number {
  let count = 1;
  while ((coresFor(costs, mix, rate, { [part]: count })[part] ?? 0) > utilization * count) count += 1;
  return count;
}
