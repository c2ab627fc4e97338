import type { Drill, Fault } from './fault.ts';
import type { RehearsedStack, Restore, Service } from './stack.ts';
import { pause } from './until.ts';

/** Begins a fault. What it returns takes it back. Where it has to look for something first, it says when it begins. */
export type Begin = (stack: RehearsedStack, drill: Drill) => Promise<Restore | undefined>;

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

/** Sends a signal to a service's first replica; `undo` is the signal that takes it back. */
const signal =
  (service: Service, name: NodeJS.Signals, undo?: NodeJS.Signals): Begin =>
  async (stack, drill) => {
    const [replica = ''] = await stack.replicas(service);
    drill.begins();
    await stack.signal(replica, name);
    return undo && (() => stack.signal(replica, undo));
  };

/** Kills a service's first replica. */
export const kill = (service: Service) => signal(service, 'SIGKILL');

/** Makes it hang. */
export const hang = (service: Service) => signal(service, 'SIGSTOP', 'SIGCONT');
