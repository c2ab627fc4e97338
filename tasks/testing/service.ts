import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';

export interface Service {
  /** Addresses as the log names them, ending in a slash. */
  url: string;
  operations: string;
  log: Record<string, unknown>[];
  /** Sends `signal` and resolves with the exit code, or null where the signal ended the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** What a test that failed left running ends with the tests. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `src/main.ts` as a process of its own on free ports, and resolves once it listens. */
export async function startService(env: Record<string, string>): Promise<Service> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/../src/main.ts`], {
    env: { ...childEnvironment, PORT: '0', OPS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  const log: Record<string, unknown>[] = [];
  const listening = Promise.withResolvers<Record<string, unknown>>();
  createInterface(child.stdout).on('line', (line) => {
    const entry = JSON.parse(line);
    log.push(entry);
    if (entry.msg === 'listening') listening.resolve(entry);
  });
  const { url, operations } = (await Promise.race([
    listening.promise,
    exited.then(([code]) => Promise.reject(new Error(`the service ended with ${code}`))),
  ])) as { url: string; operations: string };
  return {
    url,
    operations,
    log,
    async end(signal) {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}
