import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { ListenError, listen } from '@longhand/shared/listen.ts';
import { belongsToAnother } from './folders.ts';

/** The socket for commands, in the stack's folder. */
const commands = 'run/stack.sock';

/**
 * Locks the stack in the working directory for this process. Returns false if another process has the lock. The lock is an
 * abstract socket, which the kernel releases however the process ends.
 *
 * @param status describes the stack.
 */
export async function becomeRunner(status: () => string): Promise<boolean> {
  const { dev, ino } = statSync('.');
  try {
    await listen(createServer().unref(), { path: `\0longhand ${dev}:${ino}` });
  } catch (error) {
    if (error instanceof ListenError) return false;
    throw error;
  }
  // Remove sockets that a killed run left behind.
  for (const socket of readdirSync('run')) rmSync(`run/${socket}`);
  const server = createServer((client) => {
    client.unref().on('error', () => {});
    client.once('data', (command) => {
      // Like Ctrl-C.
      if (`${command}` === 'stop') process.kill(process.pid, 'SIGINT');
      else client.end(status());
    });
  });
  await listen(server.unref(), { path: commands });
  return true;
}

/** Sends the running stack a command. @returns its status, '' once it has stopped, or undefined if no stack is running. */
export async function ask(command: 'status' | 'stop'): Promise<string | undefined> {
  const socket = createConnection(commands);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw new Error(belongsToAnother(process.cwd()));
    return undefined;
  }
  socket.write(command);
  return text(socket).catch(() => '');
}
