export const serviceNames = ['proxy', 'expander', 'expander-cache', 'tasks', 'tasks-store'] as const;

export type ServiceName = (typeof serviceNames)[number];

/** A stack for tests: native, in containers or in a cluster. All ports are on 127.0.0.1. */
export interface TestStack {
  /** The proxy's port for every host name. */
  readonly port: number;
  readonly expanderPort: number;
  readonly tasksPort: number;
  /** URL of a local shortener that the expander can reach. */
  readonly shortener: string;
  /** Returns the JSON lines of the proxy's access log, at least from the last minute. */
  proxyLog(): Promise<string[]>;
  /** Kills a service with SIGKILL. */
  kill(service: ServiceName): Promise<void>;
}
