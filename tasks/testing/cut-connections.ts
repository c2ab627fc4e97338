import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CuttingProxy = Awaited<ReturnType<typeof startCuttingProxy>>;

/** Starts a TCP proxy to `url` that can cut Redis connections at a chosen step of the protocol. */
export async function startCuttingProxy(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let step: string | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    if (step === 'connect') {
      cuts += 1;
      return client.destroy();
    }
    const redis = connect(Number(port), hostname);
    const cut = () => {
      client.destroy();
      redis.destroy();
      sockets.delete(client);
    };
    sockets.add(client);
    for (const socket of [client, redis]) socket.on('error', cut).on('close', cut);
    client.on('data', (bytes) => {
      if (step && bytes.toString('latin1').toLowerCase().includes(step)) {
        cuts += 1;
        return cut();
      }
      redis.write(bytes);
    });
    redis.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}/0`,
    /** Cuts connections when the client sends `next`, or immediately if `next` is 'connect'. RESP sends one word per line. */
    cutAt(next: string | undefined) {
      step = next;
      cuts = 0;
    },
    /** Number of connections cut at the current step. */
    cuts: () => cuts,
    cutAll,
    stop() {
      server.close();
      cutAll();
    },
  };
}
