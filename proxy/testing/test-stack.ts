/** The whole stack for tests, however it was started; all ports are those of 127.0.0.1. */
export interface TestStack {
  /** For every host name. */
  readonly port: number;
  readonly expanderPort: number;
  readonly tasksPort: number;
  /** The address of a local shortener as the expander reaches it. */
  readonly shortener: string;
  /** The proxy's access log so far, JSON lines. */
  proxyLog(): Promise<string[]>;
  /** Lets a part hang: its connections stand and nothing is answered. */
  pause(part: PartName): Promise<void>;
  resume(part: PartName): Promise<void>;
  /** Ends a part as a crash would. */
  kill(part: PartName): Promise<void>;
  stop(): Promise<void>;
}

export type PartName = 'proxy' | 'expander' | 'expander-cache' | 'tasks' | 'tasks-store';
