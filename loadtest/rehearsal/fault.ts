import type { RehearsedStack, Service } from './containers.ts';
import type { Ledger } from './ledger.ts';
import type { Request } from './load.ts';
import { pause } from './until.ts';

/** What a row shows while it runs. Times are milliseconds since 1970. */
export interface Drill {
  requests: readonly Request[];
  /** When the fault began; by default, when its `cause` was called. */
  began: number;
  /** When the fault was over; by default, when its `cause` returned. */
  ended: number;
  /** When processes ended by the fault. */
  exits: readonly number[];
  /** Figures for the report. */
  notes: string[];
  /** How the promise was broken; empty if the stack kept it. */
  broken: string[];
  ledger: Ledger;
}

/** Says how a promise is broken; undefined if the stack keeps it. */
export type Judge = (drill: Pick<Drill, 'requests' | 'began' | 'ended' | 'exits'>) => string | undefined;

/** Causes a fault, and undoes it. */
export type Cause = (stack: RehearsedStack, drill: Drill) => Promise<void>;

/** A fault, and how its promise is judged. No fault may lose a task. */
export interface Fault {
  /** Without load: the store itself goes back to an earlier state. */
  quiet?: true;
  cause: Cause;
  judges: readonly Judge[];
}

/** Begins a fault, and may return what undoes it. If it has to prepare first, it sets `drill.began`. */
export type Begin = (stack: RehearsedStack, drill: Drill) => Promise<unknown>;

/** The cause of a fault that lasts for `seconds`. */
export const lasting =
  (seconds: number, begin: Begin): Cause =>
  async (stack, drill) => {
    const restore = await begin(stack, drill);
    try {
      await pause(seconds);
    } finally {
      if (typeof restore === 'function') await restore();
      drill.ended = Date.now();
    }
  };

/** The first replica of each service. The fault begins now. */
export async function firsts(stack: RehearsedStack, drill: Drill, services: readonly Service[]) {
  const replicas = await Promise.all(services.map((service) => stack.first(service)));
  drill.began = Date.now();
  return replicas;
}

/** Sends a signal to the first replica of each service; what it stops continues afterwards. */
export const signalled =
  (name: 'KILL' | 'STOP', ...services: Service[]): Begin =>
  async (stack, drill) => {
    const replicas = await firsts(stack, drill, services);
    const send = (name: string) => Promise.all(replicas.map((replica) => stack.signal(replica, name)));
    await send(name);
    return () => (name === 'STOP' ? send('CONT') : undefined);
  };
