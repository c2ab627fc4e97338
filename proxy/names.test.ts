import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { expect, onTestFinished, test } from 'vitest';
import { send } from './testing/send.ts';

/** A name server that knows one address for every name, or does not answer. */
async function startNameServer(address: string) {
  const server = createSocket('udp4');
  const names = { address: address as string | undefined, asked: 0, port: 0 };
  server.on('message', (query, client) => {
    names.asked += 1;
    if (names.address === undefined) return;
    // An answer has the question's bytes, and a record that points to its name (RFC 1035 section 4.1).
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 2, 88, 0, 4, ...names.address.split('.').map(Number)];
    server.send(Buffer.concat([head, question, Buffer.from(record)]), client.port, client.address);
  });
  await once(server.bind(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  names.port = server.address().port;
  return names;
}

/** An application that says at which address it was asked. */
async function startApplication(): Promise<number> {
  const server = http.createServer(({ socket }, response) => response.end(socket.localAddress));
  await once(server.listen(0, '0.0.0.0'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const engine = await engineAnswers();
const skipped = engine ? '' : ' (skipped: no Docker engine answers)';

// nginx runs in a container, because that of Debian 12 resolves the names of an upstream only once.
test.skipIf(!engine)(`the proxy follows the names, and goes on without them${skipped}`, async () => {
  const names = await startNameServer('127.0.0.1');
  const server = `application.test:${await startApplication()} resolve max_fails=1 fail_timeout=5s`;
  const proxy = await startTemporaryProxy(
    // Each worker remembers names by itself, and one of them asks for those of the upstreams.
    { LONGHAND_EXPANDER_SERVER: server, LONGHAND_TASKS_SERVER: server, LONGHAND_WORKERS: '1' },
    (text) => text.replace('resolver 127.0.0.1 ', `resolver 127.0.0.1:${names.port} `),
    'nginx:1.30',
  );
  onTestFinished(() => proxy.stop());
  const asked = async () => [
    (await send(proxy.ports.expander, '/')).body,
    (await send(proxy.ports.tasks, '/')).body,
  ];
  await expect.poll(asked).toEqual(['127.0.0.1', '127.0.0.1']);

  names.address = '127.0.0.2';
  await expect.poll(asked).toEqual(['127.0.0.2', '127.0.0.2']);

  names.address = undefined;
  // Each name is asked for again, in vain.
  const before = names.asked;
  await expect.poll(() => names.asked - before).toBeGreaterThanOrEqual(2);
  expect(await asked()).toEqual(['127.0.0.2', '127.0.0.2']);
});
