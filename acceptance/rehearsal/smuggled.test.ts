import http from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';
import { disguises } from './smuggled.ts';

const headers = 'Host: localhost\r\n';
const all = disguises(`POST /hidden HTTP/1.1\r\n${headers}Content-Length: 0\r\n\r\n`, headers);

/** A server that takes what is ambiguous, and notes what it is asked. */
async function startLenient() {
  const asked: string[] = [];
  const server = http.createServer({ insecureHTTPParser: true }, (request, response) => {
    asked.push(`${request.url}`);
    request.resume().on('end', () => response.end('answered'));
  });
  onTestFinished(() => cutOff(server));
  return { asked, port: await listening(server) };
}

/** Sends each disguise on a connection of its own, and waits for its end. */
async function sendAll(port: number): Promise<void> {
  for (const bytes of all) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.end(bytes);
    await text(socket).catch(() => '');
  }
}

test('no request that is hidden in another comes through the proxy, however lenient the application is', async () => {
  const { asked, port } = await startLenient();
  const proxy = await startTemporaryProxy({ LONGHAND_TASKS_SERVER: `127.0.0.1:${port} max_fails=0` });
  onTestFinished(() => proxy.stop());
  await sendAll(proxy.ports.tasks);
  expect(asked).not.toContain('/hidden');
});

test('without the proxy one does', async () => {
  const { asked, port } = await startLenient();
  await sendAll(port);
  expect(asked).toContain('/hidden');
});
