import type { Behaviour } from './relay.ts';

export type Service = 'proxy' | 'expander' | 'expander-cache' | 'tasks' | 'tasks-store';
type RedisService = 'expander-cache' | 'tasks-store';

/** Takes a fault back. */
export type Restore = () => Promise<unknown>;

/** How a process ended. */
export interface Exit {
  /** `code 0`, or the name of a signal. */
  how: string;
  /** From the signal to the end. */
  seconds: number;
}

/** A running stack, and what a rehearsal does to it. */
export interface RehearsedStack {
  readonly kind: 'native' | 'containers' | 'kubernetes';
  readonly urls: { readonly proxy: string; readonly expander: string; readonly tasks: string };
  /** The URL of a local shortener, as the expander reaches it. */
  readonly shortener: string;
  /** The same at another origin, whose share of expansions a fault may use up. */
  readonly otherShortener: string;
  /** The ids of a service's processes or containers. */
  replicas(service: Service): Promise<string[]>;
  /** Sends a signal to the program of a replica. */
  signal(replica: string, signal: NodeJS.Signals): Promise<void>;
  /** Asks a replica to stop, as the stack itself does, and waits until it has. */
  terminate(service: Service, replica: string): Promise<Exit>;
  /** When a service's processes have ended since `since`: milliseconds since 1970. */
  exits(service: Service, since: Date): Promise<number[]>;
  /** Resolves once every replica answers again. */
  settled(): Promise<void>;
  /** Replaces what a restart would have to wait for, before a row begins. */
  renew?(): Promise<void>;
  /** Runs a command of Redis. */
  redis(service: RedisService, ...command: string[]): Promise<string>;
  /** Runs a shell script in the folder of a service's data: Redis's files, nginx's caches. */
  inside(service: RedisService | 'proxy', script: string): Promise<string>;
  /** Puts a relay between a Redis and its service, where there is a place for one. */
  relay?(service: RedisService, behaviour: Behaviour): Promise<Restore>;
  /** What a service has logged since `since`; undefined if nobody keeps it. */
  log(service: Service, since: Date): Promise<string[] | undefined>;
  /** Takes a replica off the network. Only where there is one. */
  cutOff?(service: Service, replica: string): Promise<Restore>;
  /** Lets the proxy ask for names in vain. Only where it asks for names. */
  loseNames?(): Promise<Restore>;
  /** Whether the disk of the store is one of its own and small, so that it may be filled. */
  readonly smallDisk: boolean;
  /** Stops the stack if it was started for the rehearsal. */
  stop(): Promise<void>;
}
