import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fifo, openFifo } from './fifo.ts';

/** Milliseconds a process may take until it accepts connections. */
const startTimeout = 30_000;
/** Milliseconds a process may take to stop before it is killed: longer than the services' own hard stop. */
const stopTimeout = 15_000;
/** Milliseconds before a process that exited is restarted; doubles from the first to the last. */
const restartDelay = { first: 200, last: 5_000 };

export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  /** Added to the environment of the context. */
  env?: NodeJS.ProcessEnv;
  /** The process is ready once it accepts connections here. */
  host: string;
  port: number;
  /** SIGTERM by default. */
  stopSignal?: NodeJS.Signals;
  /** What the kernel sends when the supervisor dies: KILL, or TERM to a program that must stop its own children. */
  orphanSignal?: 'TERM' | 'KILL';
  /** Where to create a named pipe for standard output, for a program that needs one. */
  fifo?: string;
}

/** What the processes of a stack share. */
export interface ProcessContext {
  env: NodeJS.ProcessEnv;
  /** Called with each line of output and the name of its process. */
  onLine(process: string, line: string): void;
}

export interface SupervisedProcess {
  readonly name: string;
  /** The current process id; changes with every restart. */
  readonly pid: number | undefined;
  /** Stops the process, and resolves once its successor is ready. */
  restart(): Promise<void>;
  /** Sends the stop signal, and SIGKILL after 15 s. Resolves once the process has exited. */
  stop(): Promise<void>;
}

/**
 * Starts a program, resolves once it accepts connections, and restarts it from then on whenever it exits.
 *
 * @throws Error with the program's last lines when it exits before it is ready, or is not ready within 30 s.
 */
export async function supervise(spec: ProcessSpec, context: ProcessContext): Promise<SupervisedProcess> {
  const { name, stopSignal = 'SIGTERM' } = spec;
  const onLine = (line: string) => context.onLine(name, line);
  const fifo = spec.fifo === undefined ? undefined : openFifo(spec.fifo);
  if (fifo) createInterface(fifo.output).on('line', onLine);
  const stopping = new AbortController();
  const { signal } = stopping;
  const start = () => {
    const child = launch(spec, context.env, fifo);
    child.on('error', (error) => onLine(error.message));
    forEachLine(child, onLine);
    return child;
  };
  let child = start();
  try {
    await ready(child, spec);
  } catch (error) {
    await terminate(child, stopSignal);
    fifo?.close();
    throw error;
  }

  const restarting = (async () => {
    for (let delay = restartDelay.first; ; delay = Math.min(2 * delay, restartDelay.last)) {
      const started = Date.now();
      await exited(child);
      if (signal.aborted) return;
      if (Date.now() - started > restartDelay.last) delay = restartDelay.first;
      onLine(`exited with ${child.signalCode ?? `code ${child.exitCode}`}; restarting`);
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      child = start();
    }
  })();

  return {
    name,
    get pid() {
      return child.pid;
    },
    async restart() {
      const old = child;
      await terminate(old, stopSignal);
      while (child === old && !signal.aborted) await sleep(20);
      if (!signal.aborted) await ready(child, spec);
    },
    async stop() {
      stopping.abort();
      await terminate(child, stopSignal);
      await restarting;
      fifo?.close();
    },
  };
}

function launch(spec: ProcessSpec, env: NodeJS.ProcessEnv, fifo: Fifo | undefined): ChildProcess {
  const { command, args, orphanSignal = 'KILL' } = spec;
  const [program = command, ...words] = [...parentDeathSignal(orphanSignal), command, ...args];
  return spawn(program, words, {
    env: { ...env, ...spec.env },
    stdio: ['ignore', fifo?.fd ?? 'pipe', 'pipe'],
    // In a separate process group: Ctrl-C reaches only the supervisor, which stops the processes in order.
    detached: true,
  });
}

function forEachLine({ stdout, stderr }: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [stdout, stderr]) if (stream) createInterface(stream).on('line', onLine);
}

/** @throws Error when `child` exits before it accepts connections, or takes too long. */
async function ready(child: ChildProcess, { name, host, port }: ProcessSpec): Promise<void> {
  const lines: string[] = [];
  forEachLine(child, (line) => lines.push(line));
  // Not `exit`: the last lines have been read only by the time of `close`.
  const closed = once(child, 'close').then(() => true);
  for (const deadline = Date.now() + startTimeout; Date.now() < deadline; ) {
    if (await Promise.race([closed, sleep(20)])) {
      throw new Error(`${name} did not start:\n  ${lines.slice(-20).join('\n  ')}`);
    }
    if (await accepts(host, port)) return;
  }
  throw new Error(`${name} did not listen on port ${port} within ${startTimeout / 1_000} s`);
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = createConnection({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const isRunning = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Resolves once `child` has exited, and kills what is left of its process group, such as the workers of nginx. */
async function exited(child: ChildProcess): Promise<void> {
  if (isRunning(child)) await once(child, 'exit');
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

async function terminate(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return;
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeout);
  await exited(child);
  clearTimeout(timer);
}

let hasSetpriv: boolean | undefined;

/** The command prefix that has the kernel send `signal` when this process dies in any way; empty except on Linux. */
function parentDeathSignal(signal: string): string[] {
  hasSetpriv ??= spawnSync('setpriv', ['--pdeathsig', signal, '--', 'true']).status === 0;
  return hasSetpriv ? ['setpriv', '--pdeathsig', signal, '--'] : [];
}
