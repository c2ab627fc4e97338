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

/** Kills the program of a service's first replica. */
export const kill =
  (service: Service): Begin =>
  async (stack, drill) => {
    const [replica = ''] = await stack.replicas(service);
    drill.begins();
    await stack.signal(replica, 'SIGKILL');
  };

/** Lets it hang. */
export const hang =
  (service: Service): Begin =>
  async (stack, drill) => {
    const [replica = ''] = await stack.replicas(service);
    drill.begins();
    await stack.signal(replica, 'SIGSTOP');
    return () => stack.signal(replica, 'SIGCONT');
  };
