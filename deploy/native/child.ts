import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { forEachLine } from './lines.ts';
import { childPrefix } from './privileges.ts';
import type { ProcessContext, ProcessSpec } from './process-spec.ts';

/** Milliseconds a process may take to stop before it is killed: longer than the services' own hard stop. */
const stopTimeout = 15_000;

/** One run of a supervised program. */
export interface Child {
  readonly process: ChildProcess;
  /** The last lines of its output. */
  readonly lastLines: readonly string[];
}

/** @param onLine is called with each line of its output. */
export function launch(spec: ProcessSpec, context: ProcessContext, onLine: (line: string) => void): Child {
  const { command, args, orphanSignal = 'KILL', lowPorts = false } = spec;
  const { folder, env } = context;
  const prefix = childPrefix(lowPorts, orphanSignal);
  const [program = command, ...words] = [...prefix, command, ...args];
  const input = spec.input === undefined ? undefined : openSync(spec.input, 'r');
  const child = spawn(program, words, {
    cwd: folder,
    env: { ...env, ...spec.env },
    stdio: [input ?? 'ignore', 'pipe', 'pipe'],
    // In a process group of its own: Ctrl-C reaches only the supervisor, which stops the processes in order.
    detached: true,
  });
  if (input !== undefined) closeSync(input);

  const lastLines: string[] = [];
  const keep = (line: string) => {
    lastLines.push(line);
    if (lastLines.length > 20) lastLines.shift();
    onLine(line);
  };
  child.on('error', (error) => keep(error.message));
  for (const output of [child.stdout, child.stderr]) if (output) forEachLine(output, keep);
  return { process: child, lastLines };
}

const isRunning = ({ process: { pid, exitCode, signalCode } }: Child) =>
  pid !== undefined && exitCode === null && signalCode === null;

/** Resolves once `child` has exited, and kills what is left of its process group, such as the workers of nginx. */
export async function exited(child: Child): Promise<void> {
  const { pid } = child.process;
  if (isRunning(child)) await once(child.process, 'exit');
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

/** Sends `signal`, and SIGKILL after 15 s. Resolves once `child` has exited. */
export async function terminate(child: Child, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return;
  child.process.kill(signal);
  const timer = setTimeout(() => child.process.kill('SIGKILL'), stopTimeout);
  await exited(child);
  clearTimeout(timer);
}
