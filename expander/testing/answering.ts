import { createServer, type Socket } from 'node:net';
import { listening } from '@longhand/shared/testing/listening.ts';
import { onTestFinished } from 'vitest';

/** A server of raw bytes on 127.0.0.1, until the test has finished. @returns its URL. */
export async function answering(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listening(server)}/`;
}
