export const serviceNames = ['proxy', 'expander', 'expander-cache', 'tasks', 'tasks-store'] as const;

export type ServiceName = (typeof serviceNames)[number];

/** A stack for tests: native, in containers or in a cluster. All ports are on 127.0.0.1. */
export interface TestStack {
  /** Serves every host name. */
  readonly port: number;
  readonly expanderPort: number;
  readonly tasksPort: number;
  /** The URL of a local shortener, as the expander reaches it. */
  readonly shortener: string;
  /** The proxy's access log, at least of the last minute, as JSON lines. */
  proxyLog(): Promise<string[]>;
  /** Kills a service with SIGKILL. */
  kill(service: ServiceName): Promise<void>;
}
