/** The kinds of requests that a mix consists of. */
export const kinds = ['hot', 'cold', 'list', 'writes'] as const;
export type Kind = (typeof kinds)[number];
/** Shares of a rate, which add up to 1. */
export type Mix = Record<Kind, number>;

/** What one kind of request costs. */
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
  costs: Record<Kind, Cost>;
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

/** Named mixes: what people do with the whole stack, with links alone, with the list alone. */
export const mixes: Record<string, Mix> = {
  all: { hot: 0.6, cold: 0.1, list: 0.25, writes: 0.05 },
  links: { hot: 0.9, cold: 0.1, list: 0, writes: 0 },
  tasks: { hot: 0, cold: 0, list: 0.9, writes: 0.1 },
};

/** Cores that each process needs for `rate` requests a second of `mix`. */
export function coresFor(costs: Capacity['costs'], mix: Mix, rate: number): Record<string, number> {
  const cores: Record<string, number> = {};
  for (const kind of kinds) {
    for (const [process, microseconds] of Object.entries(costs[kind]?.cpu ?? {})) {
      cores[process] = (cores[process] ?? 0) + (rate * mix[kind] * microseconds) / 1e6;
    }
  }
  return cores;
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
export function sizeFor({ costs, memory, sockets }: Capacity, mix: Mix, rate: number): Need[] {
  const cores = coresFor(costs, mix, rate);
  const inFlight = kinds.reduce(
    (sum, kind) => sum + (rate * mix[kind] * (costs[kind]?.latency ?? 0)) / 1_000,
    0,
  );
  return Object.entries(cores)
    .filter(([, needed]) => needed > 0)
    .map(([part, needed]) => {
      const wanted = Math.max(1, Math.ceil(needed / utilization));
      const count = replicated.includes(part) ? wanted : 1;
      const note = wanted > count ? 'one Redis cannot: split the load among several stacks' : '';
      // One nginx, however many workers it has. Its clients and its upstreams each hold a socket.
      const processes = part === 'proxy' ? 1 : count;
      const open = (sockets[part] ?? 0) * processes + (part === 'proxy' ? 2 * inFlight : 0);
      return {
        part,
        count,
        cores: needed,
        memory: (memory[part] ?? 0) * processes,
        sockets: Math.ceil(open),
        note,
      };
    });
}
