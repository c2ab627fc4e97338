import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/** Makes the Unix socket at `path` reachable on a TCP port of 127.0.0.1, because k6 cannot connect to Unix sockets. */
export async function forward(path: string): Promise<{ url: string; close(): void }> {
  const server = createServer((client) => {
    const service = createConnection(path);
    pipeline(client, service, client, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
