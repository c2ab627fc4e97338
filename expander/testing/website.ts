import http, { type RequestListener } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { createServer, type Socket } from 'node:net';
import { listening } from '@longhand/shared/testing/listening.ts';
import { onTestFinished } from 'vitest';

export interface WebsiteOptions {
  host?: string;
  /** Serve over https. */
  certificate?: { key: string; cert: string };
  /** Offer HTTP/2 over https, too. */
  http2?: boolean;
}

/**
 * Runs a website until the test ends.
 *
 * @returns its origin.
 */
export async function website(answer: RequestListener, options: WebsiteOptions = {}): Promise<string> {
  const { host = '127.0.0.1', certificate } = options;
  const server = createServerOf(answer, options);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await listening(server, host);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http${certificate ? 's' : ''}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function createServerOf(answer: RequestListener, { certificate, http2: offersHttp2 }: WebsiteOptions) {
  if (!certificate) return http.createServer(answer);
  if (!offersHttp2) return https.createServer(certificate, answer);
  // Node's requests and responses of HTTP/2 have the same methods.
  return http2.createSecureServer({ ...certificate, allowHTTP1: true }, answer as never);
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
