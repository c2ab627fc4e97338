import type { Probe } from './probes.ts';

export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  /** Added to the environment of the context. */
  env?: NodeJS.ProcessEnv;
  /** The path of a file for standard input. */
  input?: string;
  ready: Probe;
  /** Whether what it writes before it is ready is of interest only if it fails. */
  quietStart?: boolean;
  /** Milliseconds until it must be ready, if that may take longer than 30 s. */
  startTimeout?: number;
  /** Explains, for people, why the process exited; undefined if its last lines do so themselves. */
  explainExit?(lastLines: readonly string[]): string | undefined;
  /** SIGTERM by default. */
  stopSignal?: NodeJS.Signals;
  /** What the kernel sends when the supervisor dies: KILL, or TERM to a program that must stop its own children. */
  orphanSignal?: 'TERM' | 'KILL';
  /** Whether it listens on a port below 1024. */
  lowPorts?: boolean;
}

/** What the processes of a stack share. */
export interface ProcessContext {
  /** The working directory; relative paths in specifications start there. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Called with each line of output and the name of its process. */
  onLine(process: string, line: string): void;
}
