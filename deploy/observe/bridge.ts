import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

/** The sockets of operations endpoints: `tasks-2-ops.sock`. */
const operationsSocket = /^(expander|tasks)(-\d+)?-ops\.sock$/;

/** The operations endpoints of a replica on a TCP port of 127.0.0.1, because Prometheus knows TCP alone. */
export interface Bridge {
  port: number;
  labels: { job: string; instance: string };
  close(): void;
}

/** Bridges every operations socket in `folder`. */
export const startBridges = (folder: string): Promise<Bridge[]> =>
  Promise.all(
    readdirSync(folder).flatMap((socket) => {
      const [, job, replica = ''] = operationsSocket.exec(socket) ?? [];
      return job ? [startBridge(join(folder, socket), { job, instance: job + replica })] : [];
    }),
  );

async function startBridge(path: string, labels: Bridge['labels']): Promise<Bridge> {
  const server = createServer((tcp) => pipeline(tcp, connect(path), tcp, () => {}));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port, labels, close: () => server.close() };
}
