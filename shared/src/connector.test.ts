import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { noDelay } from '@longhand/shared/testing/no-delay.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainConnector } from './connector.ts';

const server = createServer();
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

test.each(['http:', 'https:'])(
  'a socket without an agent has TCP no-delay on, and asks the given lookup: %s',
  async (protocol) => {
    const names: string[] = [];
    const connect = plainConnector((hostname, _options, callback) => {
      names.push(hostname);
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    });
    const accepted = once(server, 'connection');
    const port = `${(server.address() as AddressInfo).port}`;
    const socket = connect({ protocol, hostname: 'a.example', port }, () => {});
    const [peer]: Socket[] = await accepted;
    expect(names).toEqual(['a.example']);
    expect(noDelay(socket)).toBe(true);
    socket.destroy();
    peer?.destroy();
  },
);
