import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { text } from 'node:stream/consumers';

/** What another process may ask of the one that runs a stack. */
type Command = 'pid' | 'status' | 'stop';

/**
 * Answers commands from other processes on the Unix socket at `path`. The caller holds the lock of the stack, so a
 * socket that is already there belongs to nobody.
 *
 * @param status returns the text that answers `status`.
 * @param stop is called on `stop`; the command is answered when the socket is disposed of.
 */
export async function openControlSocket(
  path: string,
  { status, stop }: { status(): string; stop(): void },
): Promise<AsyncDisposable> {
  await rm(path, { force: true });
  const closed = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {});
    client.once('data', (data) => {
      const command = `${data}` as Command;
      if (command === 'stop') {
        closed.promise.then(() => client.end());
        stop();
      } else {
        client.end(command === 'pid' ? `${process.pid}` : status());
      }
    });
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      closed.resolve();
      server.close();
      await rm(path, { force: true });
    },
  };
}

/** Sends a command to the process that runs a stack. @returns its answer, or undefined if none runs. */
export async function sendCommand(path: string, command: Command): Promise<string | undefined> {
  const socket = createConnection(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') {
      throw new Error('Another user runs the stack.');
    }
    return undefined;
  }
  socket.write(command);
  return text(socket);
}
