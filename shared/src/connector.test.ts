import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { noDelay } from '@longhand/shared/testing/no-delay.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connector, resumingConnector } from './connector.ts';

const server = createServer();
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

test.each(['http:', 'https:'])(
  'a socket has TCP no-delay on, and asks the given lookup: %s',
  async (protocol) => {
    const names: string[] = [];
    const connect = connector((hostname, _options, callback) => {
      names.push(hostname);
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    });
    const accepted = once(server, 'connection');
    const port = `${(server.address() as AddressInfo).port}`;
    const socket = connect({ protocol, hostname: 'a.example', port });
    const [peer]: Socket[] = await accepted;
    expect(names).toEqual(['a.example']);
    expect(noDelay(socket)).toBe(true);
    socket.destroy();
    peer?.destroy();
  },
);

test.each([
  ['a.example', { host: 'a.example', servername: 'a.example' }],
  ['192.0.2.1', { host: '192.0.2.1', servername: '' }],
  ['[2001:db8::1]', { host: '2001:db8::1', servername: '' }],
])('the host of a URL is dialled, and named if it is a name: %s', (hostname, expected) => {
  const opened: unknown[] = [];
  const connect = resumingConnector((_protocol, { host, servername }) => {
    opened.push({ host, servername });
    return new Socket();
  });
  connect({ protocol: 'https:', hostname, port: '' });
  expect(opened).toEqual([expected]);
});

test('TLS sessions of 1000 hosts are remembered: the oldest make room', () => {
  const sessions: (Buffer | undefined)[] = [];
  const connect = resumingConnector((_protocol, { session }) => {
    sessions.push(session);
    return new Socket();
  });
  const visit = (i: number) => connect({ protocol: 'https:', hostname: `host-${i}.example`, port: '' });
  for (let i = 0; i <= 1_000; i += 1) visit(i).emit('session', Buffer.from(`session ${i}`));
  sessions.length = 0;
  for (const i of [0, 1, 1_000]) visit(i);
  expect(sessions.map((session) => session?.toString())).toEqual([undefined, 'session 1', 'session 1000']);
});
