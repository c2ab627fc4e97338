/**
 * A crowd of clients, each with a kept-alive connection from an address of its own. It replies to `{ path }` with the
 * milliseconds until each client has its response when all send that request at once. Sockets without an HTTP client,
 * so that the crowd takes little of the machine.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const [, , port = '', size = ''] = process.argv;

const clients = await Promise.all(
  Array.from({ length: Number(size) }, async (_, i) => {
    const localAddress = `127.0.${1 + Math.floor(i / 250)}.${1 + (i % 250)}`;
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress, noDelay: true });
    await once(socket, 'connect');
    return socket;
  }),
);

/** @returns the milliseconds until the response, which fits into one chunk. */
function request(client: Socket, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    client.once('data', (chunk) => {
      const [status = ''] = chunk.toString('latin1').split('\r\n');
      if (status === 'HTTP/1.1 200 OK') resolve(performance.now() - started);
      else reject(new Error(`${path}: ${status}`));
    });
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  });
}

process.on('message', async ({ path, alone }: { path: string; alone: boolean }) => {
  const asking = alone ? clients.slice(0, 1) : clients;
  process.send?.(await Promise.all(asking.map((client) => request(client, path))));
});
process.send?.({ url: '' });
