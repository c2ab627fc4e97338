import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';

export interface Fifo {
  /** Where a program writes to it. */
  readonly fd: number;
  /** What the programs have written. */
  readonly output: Socket;
  close(): void;
}

/**
 * A named pipe at `path` for a program's standard output. A program that opens /dev/stdout by its name, as
 * nginx does, can do so with a pipe and not with the socket that Node gives its child processes.
 */
export function openFifo(path: string): Fifo {
  rmSync(path, { force: true });
  execFileSync('mkfifo', [path]);
  // For reading and writing: so it never ends, however often the program is started again.
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY);
  const output = new Socket({ fd: reader, readable: true, writable: false });
  return {
    fd,
    output,
    close() {
      output.destroy();
      closeSync(fd);
      rmSync(path, { force: true });
    },
  };
}
