import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

export interface Worker extends AsyncDisposable {
  url: string;
  pid: number;
  /** Sends a message and resolves with the reply. */
  call<Reply>(message: unknown): Promise<Reply>;
}

/** Runs `file`, a path from `workers/`, in a separate process, whose first message is its `{ url }`. */
export async function startWorker(file: string, ...args: string[]): Promise<Worker> {
  const child: ChildProcess = fork(resolve(import.meta.dirname, 'workers', file), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const message = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (!message) throw new Error(`${file} exited before it listened.`);
  return {
    url: message[0].url,
    pid: child.pid as number,
    async call<Reply>(message: unknown): Promise<Reply> {
      const replied = once(child, 'message');
      child.send(message as object);
      return (await replied)[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
