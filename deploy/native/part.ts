import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFifo } from './fifo.ts';

/** Milliseconds a part may take until it listens. */
const startTime = 30_000;
/** Milliseconds a part may take to stop before it is killed: longer than the services' own hard stop. */
const stopTime = 15_000;
/** Milliseconds before a part that died is started again: the first time, and at most. */
const restartDelay = { first: 200, most: 5_000 };

export interface PartOptions {
  name: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** It is ready when it listens here. */
  host: string;
  port: number;
  stopSignal: NodeJS.Signals;
  /** What it gets when this process is killed: TERM where it has to end others itself, KILL where it need not. */
  orphanSignal: 'TERM' | 'KILL';
  /** Where to make a named pipe for standard output, for a program that needs one. */
  fifo?: string;
  /** Gets each line of its output. */
  write(line: string): void;
}

export interface Part {
  readonly name: string;
  /** Its process number at this moment. */
  readonly pid: number | undefined;
  /** Asks it to end, and kills it after 15 s. Resolves once it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a program, resolves once it listens, and from then on starts it again whenever it dies.
 *
 * @throws Error with the program's last lines when it ends before it listens, or does not listen within 30 s.
 */
export async function startPart(options: PartOptions): Promise<Part> {
  const { name, stopSignal, write } = options;
  const fifo = options.fifo === undefined ? undefined : openFifo(options.fifo);
  if (fifo) createInterface(fifo.output).on('line', write);
  const stopping = new AbortController();
  const { signal } = stopping;
  let child = launch(options, fifo?.fd);
  try {
    await listens(child, options);
  } catch (error) {
    await end(child, stopSignal);
    fifo?.close();
    throw error;
  }

  const supervised = (async () => {
    for (let delay = restartDelay.first; ; delay = Math.min(2 * delay, restartDelay.most)) {
      const started = Date.now();
      await ended(child);
      if (signal.aborted) return;
      if (Date.now() - started > restartDelay.most) delay = restartDelay.first;
      write(`ended with ${child.signalCode ?? `code ${child.exitCode}`}; it is started again`);
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      child = launch(options, fifo?.fd);
    }
  })();

  return {
    name,
    get pid() {
      return child.pid;
    },
    async stop() {
      stopping.abort();
      await end(child, stopSignal);
      await supervised;
      fifo?.close();
    },
  };
}

function launch(options: PartOptions, stdout: number | 'pipe' = 'pipe'): ChildProcess {
  const { command, args, env, orphanSignal, write } = options;
  const [program = command, ...words] = [...dyingWithUs(orphanSignal), command, ...args];
  const child = spawn(program, words, {
    env,
    stdio: ['ignore', stdout, 'pipe'],
    // A process group of its own: Ctrl-C in the terminal reaches us alone, and we stop the parts in order.
    detached: true,
  });
  child.on('error', (error) => write(error.message));
  for (const output of [child.stdout, child.stderr]) if (output) createInterface(output).on('line', write);
  return child;
}

/** Resolves once `child` listens. @throws Error when it ends before that, or takes too long. */
async function listens(child: ChildProcess, { name, host, port }: PartOptions): Promise<void> {
  const last: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface(output).on('line', (line) => last.push(line));
  }
  // `close` and not `exit`: by then the last lines have been read.
  const closed = once(child, 'close').then(() => true);
  for (const limit = Date.now() + startTime; Date.now() < limit; ) {
    if (await Promise.race([closed, sleep(20)]))
      throw new Error(`${name} did not start:\n  ${last.slice(-20).join('\n  ')}`);
    if (await accepts(host, port)) return;
  }
  throw new Error(`${name} did not listen on port ${port} within ${startTime / 1_000} s`);
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

const running = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Resolves once `child` has ended, and with it the processes it had started. */
async function ended(child: ChildProcess): Promise<void> {
  if (running(child)) await once(child, 'exit');
  try {
    // What is left of its group, such as the workers of an nginx that was killed.
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!running(child)) return;
  child.kill(signal);
  const killer = setTimeout(() => child.kill('SIGKILL'), stopTime);
  await ended(child);
  clearTimeout(killer);
}

let canDieWithUs: boolean | undefined;

/** The words that let a program get `signal` when this process ends, however it ends; Linux alone has them. */
function dyingWithUs(signal: string): string[] {
  canDieWithUs ??= spawnSync('setpriv', ['--pdeathsig', signal, '--', 'true']).status === 0;
  return canDieWithUs ? ['setpriv', '--pdeathsig', signal, '--'] : [];
}
