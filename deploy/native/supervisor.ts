import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationExitCode, EnvironmentError } from '@longhand/shared/environment-error.ts';
import { type Child, exited, launch, terminate } from './child.ts';
import type { ProcessContext, ProcessSpec } from './process-spec.ts';

/** Milliseconds a process may take until it is ready. */
const startTimeout = 30_000;
/** Milliseconds before a process that exited is restarted; doubles from the first to the last. */
const restartDelay = { first: 200, last: 5_000 };
export interface SupervisedProcess {
  readonly name: string;
  /** The current process id; changes with every restart. */
  readonly pid: number | undefined;
  /** Stops the process, and resolves once its successor is ready. */
  restart(): Promise<void>;
  /** Sends the stop signal, and SIGKILL after 15 s. Resolves once the process has exited. */
  stop(): Promise<void>;
}

/** A supervised program: the child that runs now, and how to start the next one. */
interface Run {
  readonly spec: ProcessSpec;
  child: Child;
  start(): Child;
  onLine(line: string): void;
}

/**
 * Starts a program, resolves once it is ready, and restarts it from then on whenever it exits.
 *
 * @throws Error with the program's last lines when it exits before it is ready, or is not ready in time.
 */
export async function supervise(spec: ProcessSpec, context: ProcessContext): Promise<SupervisedProcess> {
  const { name, stopSignal = 'SIGTERM' } = spec;
  let quiet = spec.quietStart ?? false;
  const onLine = (line: string) => {
    if (!quiet) context.onLine(name, line);
  };
  const start = () => launch(spec, context, onLine);
  const run: Run = { spec, child: start(), start, onLine };
  try {
    await ready(run.child, spec);
    quiet = false;
  } catch (error) {
    await terminate(run.child, stopSignal);
    throw error;
  }

  const stopping = new AbortController();
  const { signal } = stopping;
  const running = keepRunning(run, signal);
  return {
    name,
    get pid() {
      return run.child.process.pid;
    },
    async restart() {
      const old = run.child;
      await terminate(old, stopSignal);
      while (run.child === old && !signal.aborted) await sleep(20);
      if (!signal.aborted) await ready(run.child, spec);
    },
    async stop() {
      stopping.abort();
      await terminate(run.child, stopSignal);
      await running;
    },
  };
}

/** Starts the next child whenever one exits, until `signal` is aborted and the last one has exited. */
async function keepRunning(run: Run, signal: AbortSignal): Promise<void> {
  const { explainExit } = run.spec;
  for (let delay = restartDelay.first; ; delay = Math.min(2 * delay, restartDelay.last)) {
    const started = Date.now();
    await exited(run.child);
    if (signal.aborted) return;
    if (Date.now() - started > restartDelay.last) delay = restartDelay.first;
    const { signalCode, exitCode } = run.child.process;
    run.onLine(`exited with ${signalCode ?? `code ${exitCode}`}; restarting`);
    const explanation = explainExit?.(run.child.lastLines);
    if (explanation) run.onLine(explanation);
    await sleep(delay, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    run.child = run.start();
  }
}

/** @throws Error when `child` exits before it is ready, or takes too long. */
async function ready(child: Child, spec: ProcessSpec): Promise<void> {
  const { name, startTimeout: timeout = startTimeout } = spec;
  // Not `exit`: the last lines have been read only by the time of `close`.
  const closed = once(child.process, 'close').then(() => true);
  for (const deadline = Date.now() + timeout; Date.now() < deadline; ) {
    if (await Promise.race([closed, sleep(20)])) {
      const lines = child.lastLines.join('\n  ');
      if (child.process.exitCode === configurationExitCode)
        throw new EnvironmentError(child.lastLines.join('\n'));
      const explanation = spec.explainExit?.(child.lastLines) ?? `${name} did not start:`;
      throw new Error(`${explanation}\n  ${lines}`);
    }
    if (await spec.ready()) return;
  }
  throw new Error(`${name} was not ready within ${timeout / 1_000} s.`);
}
