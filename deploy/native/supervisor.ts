import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationExitCode, EnvironmentError } from '@longhand/shared/environment-error.ts';
import { forEachLine } from './log.ts';

/** Maximum startup time of a process (ms). Redis may have to load a lot of data. */
const startTimeout = 300_000;
/** Pause before a restart (ms). */
const restartDelay = 1_000;
/** Time from the stop signal to SIGKILL (ms), longer than the services' own limit. */
const stopTimeout = 15_000;

export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  ready(): Promise<boolean>;
  /** Prints startup output only if the process fails to start. */
  quietStart?: boolean;
  /** SIGTERM by default. */
  stopSignal?: NodeJS.Signals;
  /** Signal from the kernel if the supervisor dies: KILL, or TERM for a program that must stop its own children. */
  orphanSignal?: 'TERM' | 'KILL';
}

export interface ProcessContext {
  /** The working directory. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Called with each line of output. */
  onLine(process: string, line: string): void;
}

export interface SupervisedProcess {
  readonly name: string;
  /** Changes with every restart. */
  readonly pid: number | undefined;
  /** Resolves once the process has exited. */
  stop(): Promise<void>;
}

interface Child {
  process: ChildProcess;
  /** Resolves once the process has exited and its process group, such as nginx's workers, is killed. */
  exited: Promise<void>;
}

/**
 * Starts a program and resolves once it is ready. Restarts the program whenever it exits.
 *
 * @throws Error if the program exits early or does not become ready in time. The program's output explains the error.
 */
export async function supervise(spec: ProcessSpec, context: ProcessContext): Promise<SupervisedProcess> {
  const { name, stopSignal = 'SIGTERM' } = spec;
  const show = (line: string) => context.onLine(name, line);
  const held: string[] = [];
  let onLine = spec.quietStart ? (line: string) => void held.push(line) : show;
  let child = launch(spec, context, (line) => onLine(line));
  try {
    await ready(child, spec);
    onLine = show;
  } catch (error) {
    held.forEach(show);
    await terminate(child, stopSignal);
    throw error;
  }

  const stopping = new AbortController();
  const { signal } = stopping;
  const keepRunning = async () => {
    while (true) {
      await child.exited;
      if (signal.aborted) return;
      const { signalCode, exitCode } = child.process;
      show(`exited with ${signalCode ?? `code ${exitCode}`}; restarting`);
      await sleep(restartDelay, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      child = launch(spec, context, show);
    }
  };
  const running = keepRunning();
  return {
    name,
    get pid() {
      return child.process.pid;
    },
    async stop() {
      stopping.abort();
      await terminate(child, stopSignal);
      await running;
    },
  };
}

function launch(spec: ProcessSpec, context: ProcessContext, onLine: (line: string) => void): Child {
  const options = ['--no-new-privs', '--pdeathsig', spec.orphanSignal ?? 'KILL', '--'];
  const child = spawn('setpriv', [...options, spec.command, ...spec.args], {
    cwd: context.folder,
    env: { ...context.env, ...spec.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group keeps Ctrl-C from reaching these processes. The supervisor stops them in order.
    detached: true,
  });

  for (const output of [child.stdout, child.stderr]) forEachLine(output, onLine);
  const exited = once(child, 'exit').then(
    () => killGroup(child.pid),
    (error) => onLine(error.message),
  );
  return { process: child, exited };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

async function ready(child: Child, spec: ProcessSpec): Promise<void> {
  // Wait for `close`, because output may follow `exit`.
  const closed = once(child.process, 'close').then(() => true);
  for (const deadline = Date.now() + startTimeout; Date.now() < deadline; ) {
    if (await Promise.race([closed, sleep(20)])) {
      const kind = child.process.exitCode === configurationExitCode ? EnvironmentError : Error;
      throw new kind(`${spec.name} did not start. See its last lines, make doctor, and docs/operate.md.`);
    }
    if (await spec.ready()) return;
  }
  throw new Error(`${spec.name} was not ready within ${startTimeout / 1_000} s.`);
}

async function terminate({ process, exited }: Child, signal: NodeJS.Signals): Promise<void> {
  process.kill(signal);
  const timer = setTimeout(() => process.kill('SIGKILL'), stopTimeout);
  await exited;
  clearTimeout(timer);
}
