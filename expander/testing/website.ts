import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { createServer, type Socket } from 'node:net';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { onTestFinished } from 'vitest';

/**
 * Runs a website until the test ends, over https if `certificate` is given.
 *
 * @returns its origin.
 */
export async function website(
  answer: RequestListener,
  { host = '127.0.0.1', certificate }: { host?: string; certificate?: { key: string; cert: string } } = {},
): Promise<string> {
  const server = certificate ? https.createServer(certificate, answer) : http.createServer(answer);
  const port = await listening(server, host);
  onTestFinished(() => cutOff(server));
  return `http${certificate ? 's' : ''}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Runs a TCP server on 127.0.0.1 until the test ends. @returns the URL of the server. */
export async function answering(answer: (socket: Socket, data: string) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => answer(socket, `${data}`));
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listening(server)}/`;
}
