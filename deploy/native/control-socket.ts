import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';

/** What another process may ask of the one that runs a stack. */
type Command = 'status' | 'stop';

/**
 * Locks `folder` for this process and answers commands from others. A listening socket serves as the lock: it closes
 * with the process, however it dies, and the leftover file does not block the next start.
 *
 * @param status returns the text that answers `status`.
 * @param stop is called on `stop`; the command is answered by `close`.
 * @throws Error when another process runs the stack of `folder`.
 */
export async function openControlSocket(
  folder: string,
  { status, stop }: { status(): string; stop(): void },
): Promise<{ close(): Promise<void> }> {
  if ((await sendCommand(folder, 'status')) !== undefined) {
    throw new Error('The stack is already running: `make ps` shows it, `make down` stops it.');
  }
  await rm(socketPath(folder), { force: true });
  const closed = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {});
    client.once('data', (command) => {
      if (`${command}` === ('stop' satisfies Command)) {
        closed.promise.then(() => client.end());
        stop();
      } else {
        client.end(status());
      }
    });
  });
  server.listen(socketPath(folder));
  await once(server, 'listening');
  return {
    async close() {
      closed.resolve();
      server.close();
      await rm(socketPath(folder), { force: true });
    },
  };
}

/** Sends a command to the process that runs the stack of `folder`. @returns its answer, or undefined if none runs. */
export async function sendCommand(folder: string, command: Command): Promise<string | undefined> {
  const socket = createConnection(socketPath(folder));
  try {
    await once(socket, 'connect');
  } catch {
    return undefined;
  }
  socket.write(command);
  return text(socket);
}

/** Relative, because the path of a Unix socket has at most 107 bytes. */
const socketPath = (folder: string) => relative('', join(folder, 'stack.socket'));
