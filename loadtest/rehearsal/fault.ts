import type { RehearsedStack, Restore, Service } from './containers.ts';
import type { Ledger } from './ledger.ts';
import type { Request } from './load.ts';
import { pause } from './until.ts';

/** What is seen of a row while it runs. Times are milliseconds since 1970. */
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
  /** How the promise was broken; empty if it was kept. */
  broken: string[];
  ledger: Ledger;
}

/** Says how a promise is broken; undefined if it is kept. */
export type Judge = (drill: Pick<Drill, 'requests' | 'began' | 'ended' | 'exits'>) => string | undefined;

/** A row of the table: a fault, what is promised, and how that is judged. Nothing may be lost in any row. */
export interface Fault {
  id: string;
  fault: string;
  promise: string;
  /** Without load: the store itself goes back to an earlier state. */
  quiet?: true;
  /** Causes the fault, and takes it back. */
  cause(stack: RehearsedStack, drill: Drill): Promise<void>;
  judges: readonly Judge[];
}

/** Begins a fault. What it returns takes it back. If it has to look for something first, it says when it begins. */
type Begin = (stack: RehearsedStack, drill: Drill) => Promise<Restore> | Promise<void>;

/** The cause of a fault that lasts for `seconds`. */
export const lasting =
  (seconds: number, begin: Begin): Fault['cause'] =>
  async (stack, drill) => {
    const restore = await begin(stack, drill);
    try {
      await pause(seconds);
    } finally {
      if (typeof restore === 'function') await restore();
      drill.ended = Date.now();
    }
  };

/** Kills a service's first replica. */
export const kill =
  (service: Service): Begin =>
  async (stack, drill) => {
    const replica = await stack.first(service);
    drill.began = Date.now();
    await stack.signal(replica, 'KILL');
  };

/** Makes it hang. */
export const hang =
  (service: Service): Begin =>
  async (stack, drill) => {
    const replica = await stack.first(service);
    drill.began = Date.now();
    await stack.signal(replica, 'STOP');
    return () => stack.signal(replica, 'CONT');
  };
