import type { RehearsedStack, Restore, Service } from './containers.ts';
import type { Judge } from './judge.ts';
import { pause } from './until.ts';

/** What a row says of itself while it runs. */
export interface Drill {
  /** The fault begins now; the last call counts. */
  begins(): void;
  /** The fault is over now; by default when its `cause` returns. */
  ends(): void;
  /** When processes have ended by the fault. */
  exits(times: readonly number[]): void;
  /** A figure for the report. */
  note(text: string): void;
  /** A promise is broken. */
  broken(sentence: string): void;
}

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

/** A promise that is no fault of a running stack: tests hold it. */
export interface Tested {
  fault: string;
  promise: string;
  tests: readonly string[];
}

/** Begins a fault. What it returns takes it back. If it has to look for something first, it says when it begins. */
type Begin = (stack: RehearsedStack, drill: Drill) => Promise<Restore | undefined>;

/** The cause of a fault that lasts for `seconds`. */
export const lasting =
  (seconds: number, begin: Begin): Fault['cause'] =>
  async (stack, drill) => {
    drill.begins();
    const restore = await begin(stack, drill);
    try {
      await pause(seconds);
    } finally {
      await restore?.();
      drill.ends();
    }
  };

/** Kills a service's first replica. */
export const kill =
  (service: Service): Begin =>
  async (stack, drill) => {
    const replica = await stack.first(service);
    drill.begins();
    await stack.signal(replica, 'KILL');
    return undefined;
  };

/** Makes it hang. */
export const hang =
  (service: Service): Begin =>
  async (stack, drill) => {
    const replica = await stack.first(service);
    drill.begins();
    await stack.signal(replica, 'STOP');
    return () => stack.signal(replica, 'CONT');
  };
