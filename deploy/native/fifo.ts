import { execFileSync } from 'node:child_process';
import { chownSync, closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Account } from './privileges.ts';

export interface Fifo {
  /** The write end, for the standard output of a program. */
  readonly fd: number;
  /** What has been written. */
  readonly output: Socket;
  close(): void;
}

/**
 * Creates a named pipe at `path`. nginx opens /dev/stdout by name, which works on a pipe but fails (ENXIO) on the
 * socket that Node gives its child processes.
 *
 * @param program the account of the program, if it is not this process's.
 */
export function openFifo(path: string, program?: Account): Fifo {
  rmSync(path, { force: true });
  execFileSync('mkfifo', ['-m', '600', path]);
  if (program) chownSync(path, program.uid, program.gid);
  // Open for writing as well: so the output does not end when the program is restarted.
  const output = new Socket({ fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
  const fd = openSync(path, constants.O_WRONLY);
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
