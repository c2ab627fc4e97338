import http from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';

const host = 'Host: localhost\r\n';
const body = `0\r\n\r\nPOST /hidden HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`;

/** Requests with an ambiguous length. Some servers parse part of the body as a second request. */
const ambiguous = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tchunked',
  'X: y\nTransfer-Encoding: chunked',
  'Content-Length: 5',
].map((header) => `POST /task HTTP/1.1\r\n${host}Content-Length: ${body.length}\r\n${header}\r\n\r\n${body}`);

/** Starts a server that accepts ambiguous requests and records their paths. */
async function startLenient() {
  const paths: string[] = [];
  const server = http.createServer({ insecureHTTPParser: true }, (request, response) => {
    paths.push(`${request.url}`);
    request.resume().on('end', () => response.end('received'));
  });
  onTestFinished(() => cutOff(server));
  return { paths, port: await listening(server) };
}

/** Sends each request on its own connection and waits until the server closes it. */
async function sendAll(port: number): Promise<void> {
  for (const bytes of ambiguous) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.end(bytes);
    await text(socket).catch(() => '');
  }
}

test('the proxy does not forward a smuggled request', async () => {
  const { paths, port } = await startLenient();
  // The application accepts the hidden request if there is no proxy.
  await sendAll(port);
  expect(paths.splice(0)).toContain('/hidden');
  const proxy = await startTemporaryProxy({ LONGHAND_TASKS_SERVER: `127.0.0.1:${port} max_fails=0` });
  onTestFinished(() => proxy.stop());
  await sendAll(proxy.ports.tasks);
  expect(paths).not.toContain('/hidden');
});
