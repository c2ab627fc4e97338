import type { RehearsedStack } from './containers.ts';
import type { Request } from './load.ts';

/** What a row shows while it runs. Times are milliseconds since 1970. */
export interface Drill {
  requests: readonly Request[];
  /** When the fault began; by default, when its `begin` was called. */
  began: number;
  /** When the fault was over; by default, when it had been undone. */
  ended: number;
  /** When processes ended by the fault. */
  exits: readonly number[];
  /** Figures for the report. */
  notes: string[];
  /** How the promise was broken; empty if the stack kept it. */
  broken: string[];
}

/** Says how a promise is broken; undefined if the stack keeps it. */
export type Judge = (drill: Pick<Drill, 'requests' | 'began' | 'ended' | 'exits'>) => string | undefined;

/** A step of a row. If it takes time to prepare, it sets `drill.began` or `drill.ended` itself. */
export type Step = (stack: RehearsedStack, drill: Drill) => Promise<unknown>;

/** A fault, and how its promise is judged. No fault may lose a task. */
export interface Fault {
  /** Without load: the store itself goes back to an earlier state. */
  quiet?: true;
  /** Causes the fault. May return a function that undoes it. */
  begin: Step;
  /** How long it lasts before it is undone. */
  seconds?: number;
  /** Looks at what it has left, once the stack is healthy, still under load. */
  after?: Step;
  judges: readonly Judge[];
}
