import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Child {
  url: string;
  pid: number;
  /** Asks it a question over the channel between the processes. */
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts `children/<file>` in a process of its own; it tells its address first. */
export async function startChild(file: string, ...args: string[]): Promise<Child> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'children', file), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const told = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (!told) throw new Error(`${file} ended before it listened.`);
  return {
    url: told[0].url,
    pid: child.pid as number,
    async ask<Answer>(question: unknown): Promise<Answer> {
      const answered = once(child, 'message');
      child.send(question as object);
      return (await answered)[0];
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
