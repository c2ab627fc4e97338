import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';

export interface Claim {
  /** Gives the folder up, and lets those go on who asked for the stop. */
  release(): Promise<void>;
}

/** What another process may ask of the one that runs a stack. */
export type Question = 'ps' | 'stop';

/**
 * Makes this process the one that runs the stack of `folder`. The claim is a listening socket: it ends with
 * the process, however that ends, and what is left of it then is no obstacle.
 *
 * @param answers text to answer `ps` with, and what to do on `stop`.
 * @throws Error when another process has the claim.
 */
export async function claim(folder: string, answers: { ps(): string; stop(): void }): Promise<Claim> {
  if ((await ask(folder, 'ps')) !== undefined) {
    throw new Error('The stack is running already: `make ps` shows it, `make down` stops it.');
  }
  await rm(socketPath(folder), { force: true });
  const server = createServer({ allowHalfOpen: true }, (asking) => {
    asking.on('error', () => {});
    asking.once('data', (question) => {
      if (`${question}` === ('stop' satisfies Question)) {
        // Answered by the end of the connection, once everything has stopped.
        released.promise.then(() => asking.end());
        answers.stop();
      } else {
        asking.end(answers.ps());
      }
    });
  });
  const released = Promise.withResolvers<void>();
  server.listen(socketPath(folder));
  await once(server, 'listening');
  return {
    async release() {
      released.resolve();
      server.close();
      await rm(socketPath(folder), { force: true });
    },
  };
}

/** Asks the process that runs the stack of `folder`, and returns its answer; undefined when there is none. */
export async function ask(folder: string, question: Question): Promise<string | undefined> {
  const asked = createConnection(socketPath(folder));
  try {
    await once(asked, 'connect');
  } catch {
    return undefined;
  }
  asked.write(question);
  return text(asked);
}

/** Relative, because the path of such a socket has at most 107 bytes. */
const socketPath = (folder: string) => relative('', join(folder, 'stack.socket'));
