/** The kinds of requests that a mix consists of. */
export const kinds = ['hot', 'cold', 'list', 'writes'] as const;
export type Kind = (typeof kinds)[number];
/** Shares of a rate, which add up to 1. */
export type Mix = Record<Kind, number>;

/** What causes CPU time, per second: requests of each kind, and lists after a write, which have to be made again. */
export const causes = [...kinds, 'changedLists'] as const;
export type Cause = (typeof causes)[number];

/** What one of a kind of requests costs. */
export interface Cost {
  /** Microseconds of CPU time by process. */
  cpu: Record<string, number>;
  /** Milliseconds until it is answered, on average. */
  latency: number;
}

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
  costs: Record<Cause, Cost>;
  /** Cores that each process uses under any load: timers, and waking up for requests that come one by one. */
  fixed: Record<string, number>;
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

/** How often each cause comes per second in `rate` requests of `mix`, where so many replicas of tasks share the lists. */
export function causesIn(mix: Mix, rate: number, tasks = 1): Record<Cause, number> {
  const [hot, cold, list, writes] = kinds.map((kind) => rate * mix[kind]) as [number, number, number, number];
  // Of lists and writes in any order, so many lists come after a write, in each replica.
  const changedLists = list * writes === 0 ? 0 : (list * writes) / (list / tasks + writes);
  return { hot, cold, list, writes, changedLists };
}

/**
 * Cores that each process needs for `rate` requests a second of `mix`.
 *
 * @param replicas by process; one where it is not named.
 */
export function coresFor(
  { costs, fixed }: Pick<Capacity, 'costs' | 'fixed'>,
  mix: Mix,
  rate: number,
  replicas: Record<string, number> = {},
): Record<string, number> {
  const often = causesIn(mix, rate, replicas.tasks);
  const needed = (process: string) =>
    causes.reduce((sum, cause) => sum + (often[cause] * (costs[cause].cpu[process] ?? 0)) / 1e6, 0);
  return Object.fromEntries(
    Object.entries(fixed).map(([process, idle]) => [
      process,
      idle * (replicas[process] ?? 1) + needed(process),
    ]),
  );
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
export function sizeFor({ costs, fixed, memory, sockets }: Capacity, mix: Mix, rate: number): Need[] {
  const counts: Record<string, number> = {};
  const none = Object.fromEntries(Object.keys(fixed).map((part) => [part, 0]));
  for (const [part, needed] of Object.entries(coresFor({ costs, fixed: none }, mix, rate))) {
    if (needed > 0) counts[part] = Math.max(1, Math.ceil(needed / (utilization - (fixed[part] ?? 0))));
  }
  // One nginx, however many workers it has; and one Redis.
  const processes = (part: string) =>
    part !== 'proxy' && replicated.includes(part) ? (counts[part] ?? 1) : 1;
  const cores = coresFor(
    { costs, fixed },
    mix,
    rate,
    Object.fromEntries(Object.keys(counts).map((part) => [part, processes(part)])),
  );
  const inFlight = kinds.reduce((sum, kind) => sum + (rate * mix[kind] * costs[kind].latency) / 1_000, 0);
  return Object.entries(counts).map(([part, wanted]) => {
    const count = replicated.includes(part) ? wanted : 1;
    const note = wanted > count ? 'one Redis cannot: split the load among several stacks' : '';
    // At nginx, clients and upstreams each hold a socket.
    const open = (sockets[part] ?? 0) * processes(part) + (part === 'proxy' ? 2 * inFlight : 0);
    return {
      part,
      count,
      cores: cores[part] ?? 0,
      memory: (memory[part] ?? 0) * processes(part),
      sockets: Math.ceil(open),
      note,
    };
  });
}
