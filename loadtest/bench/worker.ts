import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface Worker extends AsyncDisposable {
  url: string;
  pid: number;
}

/** Runs the program at `path` in a separate process, whose first message is its `{ url }`. */
export async function startWorker(path: string, ...args: string[]): Promise<Worker> {
  const child: ChildProcess = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  const message = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (!message) throw new Error(`${path} exited before it listened.`);
  return {
    url: message[0].url,
    pid: child.pid as number,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
