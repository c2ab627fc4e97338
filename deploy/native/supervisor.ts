import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationExitCode, EnvironmentError } from '@longhand/shared/env.ts';
import { type Child, exited, isRunning, launch, terminate } from './child.ts';
import { openFifo } from './fifo.ts';
import { forEachLine } from './lines.ts';
import type { Probe } from './probes.ts';
import type { ProcessContext, ProcessSpec } from './process-spec.ts';

/** Milliseconds a process may take until it is ready. */
const startTimeout = 30_000;
/** Milliseconds before a process that exited is restarted; doubles from the first to the last. */
const restartDelay = { first: 200, last: 5_000 };
/** Milliseconds between two probes of a process that should be alive. */
const probeInterval = 2_000;
/** Failed probes in a row, of 3 s each, after which a process is killed: more while it starts. */
const failures = { whileStarting: 10, later: 3 };

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
 * Starts a program, resolves once it is ready, and restarts it from then on whenever it exits or hangs.
 *
 * @throws Error with the program's last lines when it exits before it is ready, or is not ready in time.
 */
export async function supervise(spec: ProcessSpec, context: ProcessContext): Promise<SupervisedProcess> {
  const { name, stopSignal = 'SIGTERM' } = spec;
  const onLine = (line: string) => context.onLine(name, line);
  const fifo = spec.fifo === undefined ? undefined : openFifo(spec.fifo, context.account);
  if (fifo) forEachLine(fifo.output, onLine);
  const stopping = new AbortController();
  const { signal } = stopping;
  const start = () => launch(spec, context, fifo);
  let child = start();
  try {
    await ready(child, spec);
  } catch (error) {
    await terminate(child, stopSignal);
    fifo?.close();
    throw error;
  }

  const restarting = (async () => {
    let patience = failures.later;
    for (let delay = restartDelay.first; ; delay = Math.min(2 * delay, restartDelay.last)) {
      const started = Date.now();
      if (spec.alive) watch(child, spec.alive, patience, onLine);
      patience = failures.whileStarting;
      await exited(child);
      if (signal.aborted) return;
      if (Date.now() - started > restartDelay.last) delay = restartDelay.first;
      const { signalCode, exitCode } = child.process;
      onLine(`exited with ${signalCode ?? `code ${exitCode}`}; restarting`);
      const explanation = spec.explainExit?.(child.lastLines);
      if (explanation) onLine(explanation);
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      child = start();
    }
  })();

  return {
    name,
    get pid() {
      return child.process.pid;
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

/**
 * Kills `child` once it has failed several probes in a row. Returns when it has exited.
 *
 * @param left the number of failures that kill it if it never answers.
 */
async function watch(
  child: Child,
  alive: Probe,
  left: number,
  onLine: (line: string) => void,
): Promise<void> {
  for (;;) {
    await sleep(probeInterval, undefined, { ref: false });
    if (!isRunning(child)) return;
    left = (await alive()) ? failures.later : left - 1;
    if (left === 0 && isRunning(child)) {
      onLine('does not answer; killing it');
      child.process.kill('SIGKILL');
    }
  }
}
